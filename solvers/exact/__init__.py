"""`exact`: rational answers (exact.py) by a rational simplex method (simplex.py); for PS-DSF by linear equations (ps_dsf.py)."""
