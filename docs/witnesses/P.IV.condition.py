"""P.IV.condition is refuted. It says (P IV, Example 1, to the letter):

    In Fig. 4 x_n cannot rise without lowering some x_mi with x_m / gamma_mi <= x_n gamma_ni.

Assumed: the rates gamma_ni of Fig. 4; a channel serves a user for the part x_ni / gamma_ni of the time. Shown about
the numbers below; no mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


gamma = exact([["6/5", "3/5", "2/5"], ["2/5", "2/5", "4/5"]])
part = exact([[1, "1/2", 0], [0, "1/2", 1]])


def printed_condition_of_fig_4(gamma, part):
    """Channel 1 for user 1, channel 3 for user 2, half of channel 2 each: PS-DSF, as printed."""
    x = [sum(g * p for g, p in zip(rates, parts)) for rates, parts in zip(gamma, part)]
    assert x == [F("1.5"), 1]
    assert all(sum(column) <= 1 for column in zip(*part))
    assert part[1][1] > 0
    assert x[1] / gamma[1][1] > x[0] * gamma[0][1]  # so taking from user 2 there is not excluded
    assert x[1] / gamma[1][1] == x[0] / gamma[0][1]  # but by x_n / gamma_ni, which is meant, it is
    return {"x": x[0], "ratio": x[1] / gamma[1][1], "bound": x[0] * gamma[0][1]}


found = printed_condition_of_fig_4(gamma, part)
print(
    "P.IV.condition: user 1 has {x} Mb/s and can have more of channel 2 from user 2, for whom"
    " {ratio} <= {bound} is false".format(**found)
)
