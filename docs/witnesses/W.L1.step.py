"""W.L1.step is refuted. It says (W appendix, proof of Lemma 1):

    Where A_il = g_il d_i, A_ilr / D_ir = g_il D_ir*, so N_il(A_il) = g_il D_ir*.

Assumed: one server, one variant, same demands, everywhere, positive, unlimited. Shown about the numbers below; no
mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1]])
capacities = exact([[2]])
eligible = [[1]]
weights = exact([1])
problem = (demands, capacities, eligible, weights)
points = exact([[[1]]])


def tasks_of_a_share(problem, points):
    """In parts of all there is: D_i is what a task takes, D_ir* its largest part; a bundle of x tasks has the share x D_ir*."""
    for row, d in zip(points[0], problem[0]):
        D = max(q / c for q, c in zip(d, problem[1][0]))
        share = sum(row) * D
        if share * D != sum(row):
            return {"share": share, "tasks": sum(row), "printed": share * D}
    raise AssertionError("the printed step is right here")


found = tasks_of_a_share(problem, points)
print("W.L1.step: a bundle with the share {share} holds {tasks} tasks, and g D* = {printed}".format(**found))
