"""Proofs by machine: a claim for EVERY instance of some numbers of users, servers and resources, decided over the reals by z3.

The anchor is Brandl, Brandt, Eberl, Geist (J. ACM 65(2), 2018): axioms as formulas, their negation given to an SMT solver, and
the unsatisfiable core as the reason that a person can read. Theirs are linear and about one family of profiles; ours are
polynomial.
"""
