"""Proofs by machine: a claim for EVERY instance of some numbers of users, servers and resources, decided over the reals by z3.

The anchor is Brandl, Brandt, Eberl, Geist (J. ACM 65(2), 2018): axioms as formulas, their negation given to an SMT solver, and
the unsatisfiable core as the reason that a person can read. Theirs are linear and about one family of profiles; ours are
polynomial.

| file | what is in it |
| --- | --- |
| reals.py | the solver: one query, its limit, its core, and cvc5 as a second judge |
| patterns.py | who may use what and who demands what, up to symmetry |
| game.py | PS-DSF and the game by levels and multipliers, in parts of servers |
| leximin.py | drf, drfh and tsf by prices, in units of each user's share, and lmmf over simplex demands |
| market.py | nb with several variants by prices, in units of resources that cost one |
| requests.py | njc by bottlenecks, in fractions of requests |
| claims.py | which statement is which question |
| prove.py | a verdict: proved for all instances of a size, refuted by an instance that is checked, or unknown |
| axioms.py | whether an instance has tasks with several properties (conflict.py) |
| record.py | what was proved, kept in record.json |
"""
