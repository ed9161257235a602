"""W.P3.case2 is refuted. It says (W Proposition 3, proof, case 2):

    If g' > g, some member i of the coalition M that misreports has a smaller share: G_i(A'_i) < G_i(A_i).

Assumed: one server, one variant, same demands, everywhere, positive, unlimited, equal weights, at least 2 users.
Shown for every answer of the mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1, 1, "1/2"], [1, "1/2", 1]])
capacities = exact([[1, 1, 1]])
reported = exact([["2/3", 1, "1/3"], ["2/3", "1/3", 1]])
misreporting = [0, 1]


def shares_of_a_coalition_of_all(demands, capacities, reported, misreporting):
    """One server, positive demands. All get the same share g of what they need most, the largest that fits (W Lemma 1, (6)).

    Of what it gets for a report d' with largest part 1 a user can use g' min_r d'_r / d_r.
    """
    (pool,) = capacities
    assert misreporting == list(range(len(demands)))
    assert all(q > 0 for d in demands + reported for q in d)
    true, told = (
        [[q / c / max(v / b for v, b in zip(d, pool)) for q, c in zip(d, pool)] for d in part] for part in (demands, reported)
    )
    before, after = (1 / max(map(sum, zip(*part))) for part in (true, told))
    shares = [after * min(b / a for a, b in zip(*pair)) for pair in zip(true, told)]
    assert after > before
    assert min(shares) >= before
    return {"before": before, "after": after, "least": min(shares)}


found = shares_of_a_coalition_of_all(demands, capacities, reported, misreporting)
print(
    "W.P3.case2: all misreport, g' = {after} and g = {before}, and nobody has less than "
    "{least} of what it needs most".format(**found)
)
