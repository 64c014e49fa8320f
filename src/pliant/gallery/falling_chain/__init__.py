"""The falling elastic chain: Yousefzadeh and Shafei 2024."""
