"""D.L4.symmetric is refuted. It says (D Lemma 4, proof):

    The matrix of (13) is symmetric (and positive definite).

Assumed: one server, one variant, same demands. Shown about the numbers below; no mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


requests = exact([[1], [1]])
x = exact(["1/4", "1/6"])


def loads_of(requests, x):
    """sum_i x_i r_ij of each resource."""
    return [sum(v * row[j] for v, row in zip(x, requests)) for j in range(len(requests[0]))]


def with_dummies(requests):
    """Requests, and a dummy for each user, of which it alone requests all (D 5)."""
    return [[*row, *(F(int(k == n)) for k in range(len(requests)))] for n, row in enumerate(requests)]


def slacks_of(requests, x):
    """1 - sum_i x_i r_ij of resources and dummies."""
    return [1 - load for load in loads_of(with_dummies(requests), x)]


def listed(numbers):
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


def matrix_of_13(requests, x):
    """x_i nu_i = c e_i (12) with nu_i = sum_j b_ij, b_ij = r_ij / s_j, s_j the slacks, dummies included.

    The derivative of the left side along v is nu_i v_i + x_i sum_jk b_ij b_kj v_k: the entry (i, k) is x_i sum_j b_ij b_kj.
    """
    users, slacks = range(len(x)), slacks_of(requests, x)
    assert min(slacks) > 0
    assert min(x) > 0
    b = [[r / s for r, s in zip(row, slacks)] for row in with_dummies(requests)]
    entry = {(i, k): x[i] * sum(p * q for p, q in zip(b[i], b[k])) for i in users for k in users if i != k}
    i, k = next(place for place in entry if entry[place] != entry[place[::-1]])
    return {"x": listed(x), "i": i + 1, "k": k + 1, "one": entry[i, k], "other": entry[k, i]}


found = matrix_of_13(requests, x)
print(
    "D.L4.symmetric: at x = {x} the entries ({i}, {k}) and ({k}, {i}) of the matrix are {one}"
    " and {other}".format(**found)
)
