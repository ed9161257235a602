"""Own algorithms for Nash bargaining as a market equilibrium."""
