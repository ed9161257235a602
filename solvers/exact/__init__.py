"""`exact`: rational answers (method.py) by a rational simplex method (simplex.py); for PS-DSF by linear equations (levels.py)."""
