"""Axioms together: which mechanisms have all of them, and the smallest instance on which no allocation can."""

import json
from fractions import Fraction

import numpy as np
import pytest
from profiles import drawn
from tolerances import AMPLE

import fairalloc as fa
from fairalloc.analysis.properties import PROPERTIES, check
from fairalloc.cli import main
from fairalloc.formulations import MECHANISMS
from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.solvers import solve
from fairalloc.theorems.axioms import DOMAIN, Level, _of_statement, known_of
from fairalloc.theorems.cells import Column, columns_of, evidence
from fairalloc.theorems.conflict import KIND, NAMES, PROFILE, conflict
from fairalloc.theorems.registry import all_statements
from fairalloc.theorems.search.our_cells import known_cells

z3 = pytest.importorskip("z3")
from fairalloc.theorems.smt.axioms import AXIOMS, Profile, possible  # noqa: E402

F = Fraction


@pytest.fixture(scope="module")
def found():
    """Statements with their findings by mechanism and property."""
    statements, findings = known_cells()
    return evidence({name: item for name, item in statements.items() if item.mechanism in MECHANISMS}, findings)


def instances(count, most=(3, 2, 2)):
    """Instances of the domain."""
    rng, made = np.random.default_rng(7), []
    while len(made) < count:
        draft = DOMAIN.sample(rng, 0, most)
        try:
            case = draft.case()
        except fa.FairallocError:
            continue
        made += [case.instance] * DOMAIN.satisfied_by(case)
    return made


# ---- one instance -----------------------------------------------------------------------------------------------------


def test_parts_by_weight_say_nothing_of_equal_parts(found):
    """The incentive by weight was taken for the weak one, which divides by 1 / N; and equal weights for no condition."""
    names, weighted = ("envy-freeness", "weak-sharing-incentive"), fa.Instance([[1], [1]], [[1]], weights=[1, 2])
    assert possible(weighted, names)[0] == "unsat"
    columns = columns_of([one.statement for several in found.values() for one in several], MECHANISMS)
    for column in columns:
        assert any(known_of(column, name, (2, 1, 1), found).level != Level.PROVED for name in names), column
    (proved,) = [one for one in found["drfh", names[1]] if one.statement.id == "W.P5"]
    assert "equal weights" in _of_statement(proved, names[1], (2, 1, 1)).sentence


def test_instances_with_an_idle_server_are_left_out_and_the_words_say_so():
    names = ["global-bottleneck-fairness", "bottleneck-fairness"]
    idle = fa.Instance([[[1, "1/2"]], [[1, 1]]], [[1, 1], [10, 0]], eligible=[[1, 0], [1, 0]])
    assert possible(idle, names)[0] == "unsat", "globally r2 is dominant for all, and r1 on the server that is used"
    assert not DOMAIN.satisfied_by(fa.Case(idle))
    assert "no idle server" in KIND


def test_every_axiom_about_one_profile_is_a_property_with_formulas():
    assert {*PROFILE} == {*AXIOMS}
    own = {name for name in PROPERTIES if name.startswith(("envy-up-to", "group-", "hierarchical-", "sibling-"))}
    assert {*PROFILE} == {*PROPERTIES} - {"non-wastefulness"} - own, "of whole tasks and of groups there are no formulas"


@pytest.mark.parametrize("name", PROFILE)
def test_tasks_that_the_formulas_allow_have_the_property(name):
    for instance in instances(drawn(12)):
        outcome, x = possible(instance, [name])
        assert outcome == "sat" or name in ("total-envy-freeness", "strong-sharing-incentive"), instance
        if outcome == "sat":
            verdict = check(fa.Allocation(instance, [float(v) for v in x], x_exact=x), name, exact=True)
            assert verdict.holds is not False, (name, instance.exact, x, verdict.sentence)


def given_tasks(instance, rng):
    """Feasible tasks of many kinds: exact answers, equal parts of servers, and arbitrary points, as large as they fit."""
    arcs = exact_arcs(instance)
    points = [solve(instance, name, "exact").x_exact for name in ("drfh", "tsf")]
    points += [tuple(F(int(rng.integers(0, 4))) for _ in range(len(instance.arcs))) for _ in range(4)]
    for x in points:
        most = max([*arcs.loads(x), F(0)])
        yield tuple(v / most for v in x) if most > 1 or (most and rng.random() < 0.7) else x if most <= 1 else ()


@pytest.mark.few(4)
@pytest.mark.parametrize("name", PROFILE)
def test_the_formulas_say_of_given_tasks_what_the_check_says(name):
    rng, told = np.random.default_rng(3), set()
    for instance in instances(drawn(25)):
        for x in filter(None, given_tasks(instance, rng)):
            verdict = check(fa.Allocation(instance, [float(v) for v in x], x_exact=x), name, exact=True)
            if name == "weak-sharing-incentive" and verdict.holds is None:
                continue
            profile, solver = Profile(instance), z3.Solver()
            solver.add(*AXIOMS["feasibility"](profile), *AXIOMS[name](profile))
            solver.add(*(profile.x[arc] == z3.Q(v.numerator, v.denominator) for arc, v in zip(profile.arcs, x, strict=True)))
            assert (str(solver.check()) == "sat") == (verdict.holds is not False), (name, instance.exact, x, verdict.sentence)
            told.add(verdict.holds)
    assert name == "feasibility" or False in told
    assert told & {True, None}


@pytest.mark.parametrize(
    ("instance", "axioms", "outcome"),
    [
        (fa.Instance([[1], [1]], [[1], [2]], eligible=[[1, 0], [0, 1]]), ["pareto", "total-envy-freeness"], "unsat"),
        (fa.Instance([[1], [1]], [[1], [2]], eligible=[[1, 0], [0, 1]]), ["pareto", "envy-freeness"], "sat"),
        (fa.Instance([[1], [1]], [[1], [2]], eligible=[[1, 0], [0, 1]]), ["total-envy-freeness"], "sat"),
        (fa.Instance([[1], [1]], [[1]], weights=[1, 2]), ["sharing-incentive", "strong-sharing-incentive"], "unsat"),
        (fa.Instance([[1], [1]], [[1]], weights=[1, 2]), ["weak-sharing-incentive", "sharing-incentive"], "unsat"),
        (fa.Instance([[1], [1]], [[1]]), ["sharing-incentive", "strong-sharing-incentive", "pareto"], "sat"),
        (fa.Instance([[1, 1], [1, 2]], [[1, 2], [2, 1]]), ["global-bottleneck-fairness", "sharing-incentive"], "unsat"),
        (fa.Instance([[1, 2], [1, 1]], [[1, 3], [2, 1]]), ["single-server-reduction", "single-resource-fairness"], "sat"),
    ],
)
def test_small_instances_are_decided(instance, axioms, outcome):
    assert possible(instance, axioms)[0] == outcome


def test_pareto_optimal_tasks_are_told_from_others():
    """Two servers, of which each suits one user; the answers of one axiom that fixes the tasks are Pareto optimal or not."""
    swapped = fa.Instance([[1, 2], [2, 1]], [[6, 12], [12, 6]])
    assert possible(swapped, ["pareto", "sharing-incentive"])[0] == "sat"
    reserved = fa.Instance([[1]], [[2]])
    assert possible(reserved, ["pareto"])[1] == (F(2),)


# ---- mechanisms -------------------------------------------------------------------------------------------------------


def test_what_is_known_depends_on_the_size(found):
    nb, drfh, ps_dsf = Column("nb"), Column("drfh"), Column("ps-dsf")
    misreports = known_of(nb, "strategyproofness", (2, 1, 2), found)
    assert (misreports.level, misreports.statement) == (Level.VIOLATED, "Z.P7")
    assert misreports.case.instance.N == 2
    assert known_of(nb, "strategyproofness", (2, 1, 1), found).level == Level.PROVED, "with one resource, too, it is drf"
    assert known_of(drfh, "strategyproofness", (4, 3, 3), found).level == Level.PROVED
    assert known_of(ps_dsf, "pareto", (2, 1, 2), found).level == Level.PROVED
    assert known_of(ps_dsf, "pareto", (2, 2, 2), found).level == Level.VIOLATED
    assert known_of(ps_dsf, "strategyproofness", (4, 2, 2), found).answers == "for all"
    assert known_of(ps_dsf, "strategyproofness", (2, 1, 2), found).level == Level.PROVED, "with one server it is drf"
    assert known_of(drfh, "population-monotonicity", (2, 2, 2), found).level == Level.CONDITIONAL
    assert known_of(Column("drf-per-server"), "pareto", (2, 1, 2), found).level == Level.PROVED, "with one server it is drf"


def test_stronger_axioms_hold_and_weaker_ones_fail(found):
    """Group strategyproofness implies strategyproofness."""
    lmmf = Column("lmmf")
    assert known_of(lmmf, "group-strategyproofness", (2, 1, 1), found).level == Level.VIOLATED
    assert known_of(Column("drf"), "strategyproofness", (2, 1, 2), found).level == Level.PROVED


def test_a_property_is_asked_where_it_is_defined_and_one_resource_or_server_says_more(found):
    """No chain of arrows knew that a bottleneck is what these properties are about; trials with equal weights are no trials."""
    names, largest = ("nb", "ps-dsf", "alpha-pf-vds"), (4, 3, 3)
    assert {known_of(Column(name), "server-bottleneck-fairness", largest, found).level for name in names} == {Level.PROVED}
    assert known_of(Column("drfh"), "global-bottleneck-fairness", largest, found).level == Level.PROVED
    assert known_of(Column("tsf"), "global-bottleneck-fairness", largest, found).level == Level.UNKNOWN
    for name in ("server-bottleneck-fairness", "global-bottleneck-fairness"):
        assert known_of(Column("tsf"), name, (3, 3, 1), found).level == Level.PROVED
    assert known_of(Column("nb"), "total-envy-freeness", (4, 1, 3), found).level == Level.PROVED
    weak = known_of(Column("tsf"), "weak-sharing-incentive", (2, 1, 1), found)
    assert weak.level == Level.UNKNOWN
    assert weak.sentence.endswith("if equal weights")


def test_families_of_alpha_are_told_apart(found):
    columns = columns_of([item for item in all_statements().values() if item.mechanism == "alpha-pf-vds"], [])
    levels = {one.family: known_of(one, "envy-freeness", (2, 1, 2), found).level for one in columns}
    assert levels["alpha < 1"] == Level.VIOLATED
    assert levels["alpha = 1"] == levels["alpha > 1"] == Level.PROVED
    assert known_of(Column("alpha-pf-vds", "alpha = 1"), "strategyproofness", (2, 1, 2), found).statement == "Z.P7", "it is nb"
    assert {known_of(one, "pareto", (2, 1, 2), found).level for one in columns} == {Level.PROVED}, "one server has a welfare"
    several = {one.family: known_of(one, "pareto", (4, 2, 3), found).level for one in columns}
    assert (several.pop("alpha = 1"), {*several.values()}) == (Level.PROVED, {Level.VIOLATED})
    for name in ("alpha-pf-vds", "ps-dsf", "njc"):
        assert known_of(Column(name), "feasibility", (2, 1, 2), found).level == Level.PROVED


@pytest.fixture(scope="module")
def several_servers():
    return conflict(["pareto", "envy-freeness", "strategyproofness"], "2x2x2", trials=3, time_limit=AMPLE)


def test_on_several_servers_drfh_and_tsf_have_all_three(several_servers):
    assert {"drfh", "tsf"} <= {*several_servers.having}
    assert several_servers.profile == ["pareto", "envy-freeness"]
    assert several_servers.shown_by == several_servers.having[0]
    assert several_servers.instance is None
    assert "nb" not in several_servers.having + several_servers.undecided
    assert "drf" not in several_servers.mechanisms, "it takes all servers as one pool"
    assert not {"gavel-makespan", "gavel-max-min"} & {*several_servers.mechanisms}, "they are about jobs"
    text = str(several_servers)
    told = f"up to the size 2x2x2 has an allocation with pareto and envy-freeness: that of {several_servers.shown_by}."
    assert told in " ".join(text.split())
    assert "About several profiles, so that mechanisms are asked and a single instance is not: strategyproofness." in text


def test_nb_is_not_strategyproof_at_2x1x2():
    found = conflict(["envy-freeness", "pareto", "strategyproofness"], "2x1x2", trials=3, time_limit=AMPLE)
    assert {"drf", "drfh", "tsf"} <= {*found.having}
    row = found.mechanisms["nb"]
    assert [row[name].symbol for name in found.axioms] == ["✓", "✓", "✗"]
    case = row["strategyproofness"].case
    assert (case.instance.N, case.instance.K, case.instance.R) == (2, 1, 2)
    assert fa.claim("NB is strategyproof", "nb", "strategyproofness").check(case).holds is False
    assert "nb, strategyproofness: violated: by misreporting, user 'u2' runs 0.666667" in str(found)


# ---- instances --------------------------------------------------------------------------------------------------------


@pytest.mark.deep
def test_the_smallest_instance_without_such_an_allocation(capsys):
    found = conflict(["pareto", "total-envy-freeness"], "3x3x2", trials=400, time_limit=AMPLE)
    assert found.instance is not None
    assert (found.instance.N, found.instance.K, found.instance.R) == (2, 2, 1)
    assert found.core == ("pareto", "total-envy-freeness")
    assert "No allocation has pareto and total-envy-freeness on an instance of size 2x2x1" in str(found)
    assert found.reasons == []
    scope = {}
    exec(found.code, scope)
    assert scope["outcome"] == "unsat"
    for name in found.core:
        assert possible(found.instance, [name])[0] == "sat", "each of them alone is possible"
    kept = json.loads(json.dumps(found.document()))
    assert kept["core"] == [*found.core]
    assert kept["case"]["instance"]["users"]
    assert "<td>" in found._repr_html_()
    assert capsys.readouterr().out == ""


def test_axioms_that_are_not_needed_are_left_out_of_the_core():
    found = conflict(["feasibility", "strong-sharing-incentive", "sharing-incentive"], "2x1x1", trials=200, time_limit=AMPLE)
    assert found.core == ("sharing-incentive", "strong-sharing-incentive")


@pytest.mark.deep
def test_where_nothing_is_found_it_is_said_to_be_no_proof():
    found = conflict(["strong-sharing-incentive", "pareto"], "2x1x2", trials=4, time_limit=AMPLE)
    assert (found.instance, found.shown_by) == (None, "")
    assert "was found among" in found.existence
    assert "which is no proof" in found.existence
    assert found.tried > 0


@pytest.mark.deep
def test_axioms_about_several_profiles_alone_exclude_nothing():
    found = conflict(["strategyproofness"], "2x1x1", trials=2, time_limit=AMPLE)
    assert found.existence == "No axiom is about one profile, so no single instance can exclude them."
    assert found.tried == 0


# ---- the call ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "size", ["0x1x2", "1x1x1", "9x9x9", "2x1", "2x1x2x1", "", "2 x1x2", "-2x1x2", "2x1x" + "9" * 30, "٢x1x1"]
)
def test_a_size_out_of_range_is_one_sentence(size, capsys):
    with pytest.raises(fa.InstanceError, match="it must be users x servers x resources from 2x1x1 to 4x3x3"):
        conflict(["pareto"], size)
    assert main(["theorems", "conflict", "pareto", f"--size={size}"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((["envy"],), fa.UnknownName, "there is no axiom 'envy'"),
        ((["pareto", "uniqueness"],), fa.UnknownName, "there is no axiom 'uniqueness'"),
        (([],), fa.InstanceError, r"the axioms are \[\], but they must be names"),
        (("pareto",), fa.InstanceError, "axioms is 'pareto', but it must be a list"),
        ((iter([["pareto"]]),), fa.UnknownName, r"there is no axiom \['pareto'\]"),
        (([1],), fa.InstanceError, r"axioms\[0\] is 1, but it must be a text"),
    ],
)
def test_bad_arguments_are_one_sentence(arguments, error, words):
    with pytest.raises(error, match=words):
        conflict(*arguments)


def test_the_command_prints_the_result_or_its_document(capsys):
    ask = ["theorems", "conflict", "sharing-incentive", "strong-sharing-incentive", "--size", "2x1x1", "--trials", "150"]
    assert main(ask) == 0
    assert "on an instance of size 2x1x1, the smallest found. So no mechanism has all of these axioms." in " ".join(
        capsys.readouterr().out.split()
    )
    assert main([*ask, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["size"] == [2, 1, 1]
    assert main(["theorems", "conflict", "envy-free"]) == 2
    assert "did you mean 'envy-freeness'" in capsys.readouterr().err


def test_names_are_those_of_properties():
    assert {*NAMES} <= {*fa.claim_properties()}
