"""Solvers of others: the model of a mechanism handed to CVXPY, Pyomo, HiGHS or PATH."""
