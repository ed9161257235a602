"""The report of growth: exponents, what counts, and who is compared with whom; by hand."""

from dataclasses import replace

import numpy as np
import pytest
from hand_made import record, summary_of

from fairalloc.benchmarks import find_suite, report_text
from fairalloc.benchmarks.growth import growth_grids, growths, medians_by_decade, speedup_grid
from fairalloc.benchmarks.records import BenchmarkStore
from fairalloc.benchmarks.report import summarize
from fairalloc.benchmarks.suites.suite import is_ours

SIZES = {"f-a/drfh": 100, "f-b/drfh": 1000, "f-c/drfh": 10_000, "f-d/drfh": 100_000}


def summary(**seconds):
    """Records of methods with these seconds by size; None where it ran out of time."""
    rows = []
    for method, spent in seconds.items():
        for (case, arcs), cpu in zip(SIZES.items(), spent, strict=True):
            late = {"termination": "time_limit", "claims": False, "definition": np.inf}
            rows.append(record(case=case, method=method.replace("_", ":"), arcs=arcs, cpu=cpu or 20.0, **({} if cpu else late)))
    return summary_of(rows, families=dict.fromkeys(SIZES, "f"))


def test_the_exponent_is_the_slope_in_logs_from_a_thousand_arcs_on():
    (found,) = growths(summary(ours=(5.0, 1e-3, 1e-2 * 10**0.5, 1e-1 * 10)))
    assert found.exponent == pytest.approx(1.5)
    assert found.told == "1.50 (1e3-1e5)"
    assert found.ended == ""
    assert found.worst == 1e-9


def test_what_does_not_verify_does_not_count_and_says_where_it_ended():
    made = summary(cvxpy_scs=(1.0, 1.0, None, None))
    (found,) = growths(made)
    assert found.seconds == {100: 1.0, 1000: 1.0}
    assert found.exponent is None
    assert found.told == "-"
    assert found.ended == "time_limit at c"
    wrong = replace(made, rows_of_run=tuple(replace(r, definition=1e-3) for r in made.rows_of_run))
    assert growths(wrong)[0].seconds == {}


def test_where_it_ended_is_the_first_case_asked_for_and_not_the_first_answered(tmp_path):
    made = summary(cvxpy_scs=(1.0, 1.0, None, None))
    with BenchmarkStore(tmp_path / "r") as store:
        store.add_run("2026-01-01", "s", made.run.details, made.run.keys)
        for row in reversed(made.rows_of_run):
            store.add(row)
    assert [found.ended for found in growths(summarize(tmp_path / "r"))] == ["time_limit at c"]


def test_the_best_of_ours_is_compared_with_the_best_of_the_others():
    made = summary(exact=(0.1, 0.1, 0.1, 0.1), cvxpy_scs=(1.0, 1.0, 0.4, None), highs=(2.0, 0.2, 3.0, None))
    grid = speedup_grid(made)
    assert [row[-1] for row in grid.rows] == ["10", "2", "4"]
    assert [row[5] for row in grid.rows] == ["cvxpy:scs", "highs", "cvxpy:scs"]
    assert grid.notes[0].endswith("drfh: 4.3 times, at least 2.")
    assert grid.notes[1].endswith("only one side has an answer: 1 of this package, 0 of the others.")
    behind = speedup_grid(summary(exact=(0.1, 0.1, None, None), highs=(2.0, 0.2, 3.0, 9.0)))
    assert behind.notes[1].endswith("0 of this package, 2 of the others."), "where ours fails no ratio says so"
    assert speedup_grid(summary(exact=(0.1, 0.1, 0.1, 0.1))) is None
    (table,) = growth_grids(made)
    assert [row[1] for row in table.rows] == ["cvxpy:scs", "exact", "highs"]
    assert "Growth" in report_text(made, "markdown")


def test_a_method_of_a_user_is_not_of_this_package_and_who_is_dishonest_is_not_compared():
    made = summary(exact=4 * (0.2,), own=4 * (0.1,), highs=4 * (0.3,))
    assert {(*row[3:4], *row[5:6]) for row in speedup_grid(made).rows} == {("exact", "own")}
    right = [replace(r, rational=r.method == "exact", quantities=(1.0 + (r.method == "own"),)) for r in made.rows_of_run]
    assert {found.method for found in growths(replace(made, rows_of_run=tuple(right)))} == {"exact", "highs"}


def test_who_is_ours():
    assert all(map(is_ours, ("interior-point", "highs:leximin")))
    assert not any(map(is_ours, ("highs:ipx", "ortools:pdlp", "pyomo:ipopt", "cvxpy:moreau", "qtqp")))


def test_the_suite_grows_in_every_family_and_its_largest_are_for_ours():
    suite = find_suite("scaling")
    families = {case.family for case in suite.cases}
    assert len(families) == 9
    assert {"generic", "heavy_tailed", "tied", "racks", "google_mix", "sparse", "identical"} <= families
    assert {case.parameters.get("alpha") for case in suite.cases} == {None, 0.5, 1.0, 3.0, 20.0, "inf"}
    largest = [case for case in suite.cases if case.methods]
    assert {case.mechanism for case in largest} == {"drfh", "nb"}
    assert all(map(is_ours, largest[0].methods))
    first = next(case for case in suite.cases if case.family == "sparse")
    assert len(first.build().arcs) == 100
    assert first.after == ""


def test_the_median_over_families_counts_no_answer_as_endless():
    """At 1,000 arcs of two families one method has 1 and 3 seconds, and the other only one answer."""
    cases = {"a/drfh": "f", "b/drfh": "g"}
    late = {"termination": "time_limit", "claims": False, "definition": np.inf}
    rows = [record(case=case, method="one", arcs=1000, cpu=cpu) for case, cpu in zip(cases, (1.0, 3.0), strict=True)]
    rows += [
        record(case="a/drfh", method="two", arcs=1000, cpu=0.1),
        record(case="b/drfh", method="two", arcs=1000, cpu=9.0, **late),
    ]
    made = summary_of(rows, families=cases)
    assert medians_by_decade(made, "drfh") == {"one": [(1000.0, 2.0)]}
    assert medians_by_decade(made, "nb") == {}


def test_of_several_sizes_near_a_power_of_ten_all_methods_show_the_nearest(monkeypatch):
    """The suite has 10,000 and 30,000 arcs; a method that ended before the second stood beside others there."""
    monkeypatch.setitem(SIZES, "f-d/drfh", 30_000)
    for order in (1, -1):
        made = summary(one=(0.1, 0.2, 0.3, 0.9), two=(0.1, 0.2, 0.4, None))
        made = replace(made, rows_of_run=made.rows_of_run[::order])
        (table,) = growth_grids(made)
        assert [row[2:5] for row in table.rows] == [["0.1", "0.2", "0.3"], ["0.1", "0.2", "0.4"]]
        assert {name: points[-1] for name, points in medians_by_decade(made, "drfh").items()} == {
            "one": (1e4, 0.3),
            "two": (1e4, 0.4),
        }
