"""The flexible slider-crank under impact: Ebrahimi, Nouri, Salahshoor."""
