"""The flexible arm tipping against a wall: Wang, Yan, Fang, Jin 2012."""
