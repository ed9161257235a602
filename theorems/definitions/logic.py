"""The logic of fractions: all_, any_, implies, ge, eq."""

EXACT = (all, any, lambda a, b: not a or b, lambda a, b: a >= b, lambda a, b: a == b)
