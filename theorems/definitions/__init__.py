"""Each mechanism and property once, as a predicate of an instance, an answer and a witness such as prices.

The same text is evaluated on fractions, stands in the standalone scripts, builds the formulas of the solver z3 (`FORMULAS` of
smt/reals.py), and is shown on the page of a statement. Its `logic` is handed in, `all_, any_, implies, ge, eq`: the first two
of lists of formulas, `ge` and `eq` of numbers. `EXACT` is that of fractions. The data are

    need       {arc: {resource: amount > 0}}: who may run where, and what a task takes there; arc = (user, ..., server)
    room       {(server, resource): capacity}
    x, share   {arc: tasks}, {user or arc: share}
    prices     {(server, resource): price}
"""

from fairalloc.theorems.definitions.logic import EXACT

__all__ = ["EXACT"]
