"""Methods of integration: their register, their families of compiled steps, and their numbers."""
