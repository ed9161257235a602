"""D.S4.strategyproof is refuted. It says (D 4, second attribute):

    Users do not benefit from misreporting their needs, in particular not by another profile.

Assumed: one server, one variant, same demands, at least 2 users. Shown for every answer of the mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


requests = exact([[0, 1], [1, "1/2"]])
reported = exact([["1/2", 1], [1, "1/2"]])
entitlements = exact(["1/2", "1/2"])
user = 0
sign = 1
most_before = exact([[0, 2, 0, 0, 2, 1], [0, 2, 0, 0, 2, 1, 0], [0, 2, 0, 0, 2, 0, 2], [0, 0, 0, 0, 0, 2, 0],
                     [0, 0, 0, 0, 0, 2, 0, 0], [0, 0, 0, 0, 0, 2, 0, 0], [0, 1, 0, 0, 0, 0, "1/2"],
                     [0, 1, 0, 0, 0, 0, "1/2", 0], [0, 1, 0, 0, 0, 0, 0, 1]])
least_after = exact([[2, 0, 0, 0, 1, 2], [0, 4, 0, 0, 3, 2, 0], [0, 2, 0, 0, 2, 0, 2], [2, 0, 0, 0, 0, 2, 2],
                     [0, 4, 0, 0, 2, 6, 0, 0], [0, 2, 0, 0, 0, 4, 0, 2], [4, 0, 0, 0, 2, 0, 3],
                     ["2/3", 0, 0, 0, "4/3", 0, 0, 0], [4, 0, 0, 0, 2, 0, 0, 6]])


def part_of_the_truth(part, reported, needed):
    """The part of its request that a user can run with this part of the reported one, at most all."""
    return min([F(1)] + [part * told / true for told, true in zip(reported, needed) if true])


def unit_of(n, count, sign=1):
    """sign x_n as an objective."""
    return [F(sign * int(m == n)) for m in range(count)]


def reasons(count, resources):
    """All ways to give each user a reason: a resource, or -1 for all of its request."""
    ways = [[]]
    for _ in range(count):
        ways = [[*way, j] for way in ways for j in range(-1, resources)]
    return ways


def complaint_rows(requests, entitlements, way):
    """rows . x <= sides for the x without complaints by these reasons: linear, as D says."""
    users = range(len(requests))
    loads = [list(column) for column in zip(*requests)]
    units = [[F(int(k == n)) for k in users] for n in users]
    rows, sides = loads + units, [F(1)] * (len(loads) + len(units))
    for n, j in enumerate(way):
        if j < 0:
            rows, sides = [*rows, [-v for v in units[n]]], [*sides, F(-1)]
        else:
            rows = [*rows, [-v for v in loads[j]], [-requests[n][j] * v for v in units[n]]]
            sides = [*sides, F(-1), -entitlements[n]]
    return rows, sides


def at_most(rows, sides, factors, objective):
    """The bound on objective . x over all x >= 0 with rows . x <= sides that these factors of the rows prove."""
    assert min(factors) >= 0
    for k, worth in enumerate(objective):
        assert sum(y * row[k] for y, row in zip(factors, rows)) >= worth
    return sum((y * side for y, side in zip(factors, sides)), F(0))


def bound(requests, entitlements, objective, proofs):
    """The bound on objective . x over all NJC allocations that the factors prove, one row for each way of reasons.

    Factors that bound the objective 0 by a number below 0 show that there is no allocation with these reasons.
    """
    found, ways = [], reasons(len(requests), len(requests[0]))
    assert len(proofs) == len(ways)
    for way, factors in zip(ways, proofs):
        rows, sides = complaint_rows(requests, entitlements, way)
        columns = [sum(y * row[k] for y, row in zip(factors, rows)) for k in range(len(objective))]
        empty = min(factors) >= 0 and min(columns) >= 0 and sum(y * side for y, side in zip(factors, sides)) < 0
        found += [] if empty else [at_most(rows, sides, factors, objective)]
    return max(found)


def misreport_over_all(requests, reported, entitlements, user, sign, most_before, least_after):
    """sign x_i at most over all NJC allocations by the truth, against the least of that over all of them after the misreport.

    By what it reports the user gets x'_i; of its request it can run x'_i times the least r'_ij / r_ij over what it needs.
    """
    up, down = unit_of(user, len(requests), sign), unit_of(user, len(requests), -sign)
    before = sign * bound(requests, entitlements, up, most_before)
    after = part_of_the_truth(-sign * bound(reported, entitlements, down, least_after), reported[user], requests[user])
    assert sign * (after - before) > 0
    return {"user": user + 1, "before": before, "after": after}


found = misreport_over_all(requests, reported, entitlements, user, sign, most_before, least_after)
print(
    "D.S4.strategyproof: user {user} gets at most {before} of its request by the truth, and "
    "at least {after} of it by misreporting".format(**found)
)
