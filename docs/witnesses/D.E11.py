"""D.E11 is refuted. It says (D, after (12)):

    (11) differentiated: sum_k x'_k r_kj / (1 - sum_k x_k r_kj) = 1, for each j as there is no sum over j.

Assumed: one user who requests all of one resource, at x = 1/2. Shown about the numbers below; no mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)





def derivative_of_11():
    """f = -log(1 - x r) - log(1 - x) with r = 1, and its dummy; f grows at the rate 1 along the trajectory (11)."""
    x, r = F(1, 2), F(1)
    terms = [r / (1 - x * r), 1 / (1 - x)]  # the derivatives by x
    speed = 1 / sum(terms)
    rates = [speed * term for term in terms]
    assert sum(rates) == 1
    assert rates[0] != 1
    return {"first": rates[0], "second": rates[1]}


found = derivative_of_11()
print(
    "D.E11: at x = 1/2 the terms of resource 1 and of the dummy are {first} and {second}: it "
    "is their sum that is 1".format(**found)
)
