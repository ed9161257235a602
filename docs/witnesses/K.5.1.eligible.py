"""K.5.1.eligible is refuted. It says (K 5.1, (15) and (46)):

    The direction (46) keeps x_ni = 0 for users who are not eligible.

Assumed: one variant, same demands, no idle server, unlimited, at least 2 users. Shown about the numbers below; no
mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1], [1]])
capacities = exact([[1], [1]])
eligible = [[0, 1], [1, 1]]
weights = exact([1, 1])
problem = (demands, capacities, eligible, weights)


def projection_moves_ineligible(problem):
    """(46) for the gradient -1 at those who are eligible, 0 at others: -gradient without its part along d_r, if that is > 0."""
    demands, capacities, eligible, _ = problem
    for i in range(len(capacities)):
        for r in range(len(capacities[0])):
            d, push = [row[r] for row in demands], [F(places[i]) for places in eligible]
            along = sum(a * b for a, b in zip(push, d)) / (sum(a * a for a in d) or 1)
            v = [a - max(along, F(0)) * b for a, b in zip(push, d)]
            moved = [n for n, places in enumerate(eligible) if not places[i] and v[n]]
            if moved:
                return {"server": i + 1, "resource": r + 1, "user": moved[0] + 1, "v": v[moved[0]]}
    raise AssertionError("nobody moves who is not eligible")


found = projection_moves_ineligible(problem)
print(
    "K.5.1.eligible: where resource {resource} of server {server} is full, the direction of "
    "user {user}, who is not eligible, is {v}".format(**found)
)
