"""Z.VI.results.LMMF is refuted. It says (Z VI, of Proposition 3):

    For concave f that rise strictly along rays there is an LMMF allocation; here f(c) = sum of c_r, plus 10 where c_1
    > 0.

Assumed: one server, same demands, unlimited, equal weights, at least 2 users. Shown about the numbers below; no
mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1, 1], [0, 1]])
capacities = exact([[1, 1]])
x = exact("1/2")


def least_utility_without_a_largest(demands, capacities, x):
    """Utilities are f of what the tasks take, f(c) = c_1 + c_2, and 10 more where c_1 > 0: concave, and rising along rays.

    User 1 has 0 without tasks, and more than 10 with any. User 2 takes nothing of resource 1, and has what is left of resource 2,
    less than 10. So the least utility is 0, or it is user 2's, which rises as user 1 runs less, but not to none.
    """
    assert [len(d) for d in demands] == [2, 2]
    (first, second), (nothing, other) = demands
    assert nothing == 0
    assert min(first, second, other) > 0
    ((bound, room),) = capacities
    assert room < 10
    assert 0 < x <= bound / first
    least, better = (min(10 + y * (first + second), room - y * second) for y in (x, x / 2))
    assert better > least > 0
    return {"tasks": x, "least": least, "better": better, "room": room, "need": second}


found = least_utility_without_a_largest(demands, capacities, x)
print(
    "Z.VI.results.LMMF: with {tasks} tasks user 1 leaves {least} to user 2, who has the "
    "least, and with half as many {better}".format(**found)
)
