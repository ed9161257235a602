"""The theorem laboratory: cases, hypotheses, search, shrinking, findings that are kept, witnesses, matrix, command line."""

import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import plain_judges
import pytest
from plain_judges import as_told, envy, sharing
from tolerances import AMPLE, ROUNDING

from fairalloc.analysis.properties.checks import TOLERANCE
from fairalloc.analysis.properties.misreport import Misreport
from fairalloc.analysis.verdict import Verdict
from fairalloc.cli import main
from fairalloc.cli import theorems as cli_theorems
from fairalloc.models import FairallocError, Instance, InstanceError, NotApplicable
from fairalloc.models.examples.published import example
from fairalloc.runs.processes import NoAnswer, Pool, Task
from fairalloc.solvers import solve
from fairalloc.solvers.running.time_limits import AVAILABLE, alarm
from fairalloc.theorems import registry as claims
from fairalloc.theorems.cases import Case, Draft, parse_case
from fairalloc.theorems.checkers import trials
from fairalloc.theorems.checkers.trials import attempted, proved
from fairalloc.theorems.hypotheses import Hypotheses
from fairalloc.theorems.printed import PRINTED
from fairalloc.theorems.search import laboratory
from fairalloc.theorems.search.investigate import RELATED, Sought, investigate, unfinished
from fairalloc.theorems.search.laboratory import verify
from fairalloc.theorems.search.search import Limit, Search, seeded
from fairalloc.theorems.search.steps import measure
from fairalloc.theorems.search.witnesses import (
    FindingStore,
    WitnessRecord,
    changes,
    kept_witnesses,
    on_record,
    packaged,
    verify_witness,
    witnesses_of,
    write_witnesses,
)
from fairalloc.theorems.smt import prove as machine
from fairalloc.theorems.smt.record import MachineVerdict, kept_proofs
from fairalloc.theorems.statement import Finding, Proof, Statement, Status, parse_finding, verdict_document

ROOT = Path(__file__).resolve().parents[2]
STATEMENTS = claims.all_statements()
ANY = Hypotheses(one_variant=False, same_demands=False, unlimited=False, parameters={"alpha": (1, 2)}, points=2)
ASSUMPTIONS = [f.name for f in fields(Hypotheses) if f.type == "bool" or f.type is bool]


def samples(hypotheses, count, misreports=0, seed=1):
    """Cases that the hypotheses admit."""
    rng, made = np.random.default_rng(seed), []
    for _ in range(count):
        try:
            made.append(hypotheses.sample(rng, misreports).case())
        except FairallocError:  # a misreport that leaves the user without a server
            continue
    return made


# ---- planted claims, which need no solver ---------------------------------------------------------------------------


def spread(case):
    """Planted: nobody demands twice as much of the last of several resources as another user."""
    if case.instance.R < 2 or case.instance.N < 2:
        raise NotApplicable("about two users and two resources")
    last = [rows[0][-1] for rows in case.instance.exact.demands]
    margin = max(last) - 2 * min(last) if min(last) > 0 else Fraction(-1)
    return Verdict("spread", margin < 0, float(margin), f"{max(last)} and {min(last)}", "rational arithmetic")


def planted(**changes):
    return replace(Statement("K.planted", "a planted claim", "nowhere", "all", spread, spread), **changes)


def harmless(_):
    return Verdict("nothing", True, -1.0, "holds", "by definition")


# ---- cases and hypotheses -------------------------------------------------------------------------------------------


def test_cases_survive_json_and_code():
    for case in samples(ANY, 60, misreports=2):
        document = json.loads(json.dumps(case.document()))
        again = parse_case(document)
        assert again.document() == case.document()
        assert (again.misreport, again.points, again.parameters) == (case.misreport, case.points, case.parameters)
        built = eval(case.code(), {"Case": Case, "Instance": Instance, "Misreport": Misreport, "Fraction": Fraction})
        assert built.document() == case.document()
        assert Draft.of(case).case().document() == case.document()


@pytest.mark.parametrize("user", [2, -1])
def test_a_misreport_of_nobody_is_refused(user):
    false = [{"user": user, "demands": [["1"]], "eligible": None}]
    document = Case(Instance([[1], [2]], [[1]])).document() | {"misreport": false}
    with pytest.raises(InstanceError, match=rf"names the users \({user},\), but there are 2 from 0 on"):
        parse_case(document)


def test_a_misreport_is_reported():
    wang = example("wang-fig2").instance
    misreport = Misreport((1,), (((Fraction(1), Fraction(1)),),), ((True, False),))
    reported = misreport.reported(wang)
    assert reported.exact.demands == (wang.exact.demands[0], ((1, 1),))
    assert reported.placement.tolist() == [[True, True], [True, False]]
    with pytest.raises(InstanceError, match="no eligible server"):
        Misreport((0,), (None,), ((False, False),)).reported(wang)


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ASSUMPTIONS)
def test_samples_satisfy_an_assumption_and_others_do_not(name):
    free = replace(ANY, parameters={}, points=0, users=2)
    assumed = replace(free, **{name: True})
    made = samples(assumed, 60)
    assert sum(assumed.satisfied_by(case) for case in made) > 30
    assert not all(assumed.satisfied_by(case) for case in samples(free, 60)), "the test can fail"
    assert all(free.satisfied_by(case) for case in made)
    assert name in assumed.dropped()


def test_every_server_of_k_has_an_eligible_user():
    """K 2: N_i is not empty. A server that nobody may use, or where everybody lacks something, makes a case of another model."""
    model = Hypotheses(no_idle_server=True)
    assert model.satisfied_by(Case(Instance([[1, 0], [0, 1]], [[1, 0], [0, 1]])))
    assert not model.satisfied_by(Case(Instance([[1, 1]], [[1, 0], [1, 1]]))), "nobody can run at the first"
    assert not model.satisfied_by(Case(Instance([[1]], [[1], [1]], eligible=[[1, 0]]))), "nobody may run at the second"
    idle = [s.id for s in STATEMENTS.values() if s.paper == "K" and s.quantifier != "one" and not _no_idle(s.hypotheses)]
    assert idle == ["K.5.1.assumption-2"], "which is about an assumption, and no mechanism"
    cases = [parse_case(w["case"]) for w in packaged().witnesses if w["statement"][0] in "KPW"]
    assert len(cases) > 40
    assert [case.code() for case in cases if len(set(case.instance.arcs.server.tolist())) < case.instance.K] == []


def _no_idle(hypotheses):
    return hypotheses.no_idle_server or hypotheses.one_server or hypotheses.everywhere


def test_points_are_feasible_and_an_overload_is_not_admitted():
    for case in samples(ANY, 30):
        assert ANY.satisfied_by(case)
        assert not ANY.satisfied_by(replace(case, points=case.points[:1]))
        assert not ANY.satisfied_by(replace(case, parameters={"alpha": 3}))
        if any(case.points[0]):
            assert not ANY.satisfied_by(replace(case, points=(tuple(10**6 * x for x in case.points[0]), case.points[1])))


@pytest.mark.deep
@pytest.mark.unmeasured
def test_all_the_assumptions_of_the_papers_are_sampled():
    for statement in STATEMENTS.values():
        made = samples(statement.hypotheses, 20, statement.misreports)
        assert sum(statement.applies_to(case) for case in made) > 5, statement.id


# ---- search ---------------------------------------------------------------------------------------------------------


def search(statement, seed=0, trials=400, seconds=AMPLE):
    """The smallest violation that is found, and the search with its counts."""
    made = Search(statement, seeded(statement, seed), Limit(trials, seconds))
    return made.run(), made


@pytest.mark.deep
def test_the_search_finds_a_planted_falsehood_and_shrinks_it():
    for seed in range(3):
        found, made = search(planted(), seed, trials=400, seconds=AMPLE)
        assert found is not None
        assert found.draft.size == (2, 1, 2)
        assert measure(found.draft) == (2, 1, 2, 2, 0, 0, 14), "demands (0, 1) and (0, 2) or (0, 1/2), capacities 1 or 0"
        assert found.verdict.holds is False
        assert made.trials <= 400


def test_a_climb_finds_a_narrow_window():
    """Weights in a ratio of 1.415, give or take 0.005, which no sample has: small steps lead there."""

    def narrow(case):
        weights = case.instance.exact.weights
        margin = Fraction(1, 200) - abs(max(weights) / min(weights) - Fraction(283, 200))
        return Verdict("narrow", margin <= 0, float(margin), "in the window", "rational arithmetic")

    found, _ = search(planted(trial=narrow, confirm=narrow), trials=3000, seconds=AMPLE)
    assert found is not None


def test_shrinking_ends_at_the_least_number_that_will_do():
    def large(case):
        margin = case.instance.exact.capacities[0][0] - 100
        return Verdict("large", margin <= 0, float(margin), "too large", "rational arithmetic")

    found, _ = search(planted(trial=large, confirm=large), trials=2000, seconds=AMPLE)
    assert found is not None
    assert found.case.instance.exact.capacities == ((Fraction(101),),)


@pytest.mark.deep
def test_a_search_is_deterministic_by_its_seed():
    first, second, other = (search(planted(), seed, trials=300, seconds=AMPLE) for seed in (5, 5, 6))
    assert first[0].case.document() == second[0].case.document()
    assert (first[0].trial, first[1].trials) == (second[0].trial, second[1].trials)
    assert (first[0].trial, first[1].trials, first[1].rejected) != (other[0].trial, other[1].trials, other[1].rejected)


def test_what_exact_arithmetic_does_not_confirm_is_not_a_violation():
    finding = investigate(planted(confirm=harmless), seconds=AMPLE, trials=100)
    assert finding.status == "not decided"
    assert finding.searched["unconfirmed"] > 0
    assert "not confirmed" in finding.sentence


def test_a_claim_that_holds_is_not_refuted_in_a_stated_number_of_cases():
    finding = investigate(planted(trial=harmless, confirm=harmless), seconds=AMPLE, trials=50)
    assert finding.status == "not refuted"
    assert 40 <= finding.trials <= 50, "a few cases that are drawn are none"
    assert f"{finding.trials} cases" in finding.sentence
    assert investigate(planted(trial=harmless, confirm=harmless), seconds=AMPLE, trials=3).status == "not decided"


def test_cases_without_a_verdict_are_not_counted_among_those_that_refute_nothing():
    def small(case):
        known = True if case.instance.N <= 2 else None
        return Verdict("small", known, -1.0 if known else np.nan, "known for two users", "rational arithmetic")

    found = investigate(planted(trial=small, confirm=small), seconds=AMPLE, trials=100)
    assert (found.status, max(size[0] for size in found.searched["sizes"])) == ("not refuted", 2)
    assert found.trials + found.searched["undecided"] + found.searched["rejected"] == 100
    assert f"{found.trials} cases of up to 2 users" in found.sentence
    assert f"and {found.searched['undecided']} more were not decided" in found.sentence


@pytest.mark.deep
def test_a_proof_counts_without_cases_and_a_violation_refutes_it():
    """One case is enough where there is a proof, and none where there is a violation."""
    because = planted(trial=harmless, confirm=harmless, proof="because")
    finding = investigate(because, seconds=AMPLE, trials=1)
    assert finding.status == "proved"
    assert finding.sentence.startswith("proved: K.planted; not refuted in ")
    assert investigate(planted(proof="because"), seconds=AMPLE, trials=200).status == "refuted"
    doubted = investigate(planted(confirm=harmless, proof="because"), seconds=AMPLE, trials=100)
    assert doubted.status == "proved"
    assert "violations in floating point were not confirmed" in doubted.sentence
    assert on_record(because, WitnessRecord()).status == "proved"
    assert on_record(replace(because, proof=""), WitnessRecord()).status == "not decided"


def test_the_record_calls_proved_what_has_a_proof():
    record = packaged()
    about_all = {name: last for name, last in record.searched.items() if STATEMENTS[name].quantifier in ("all", "run")}
    known = {name: STATEMENTS[name].proof != "" for name, last in about_all.items() if last["status"] == "proved"}
    assert len(known) > 150
    assert all(known.values())
    refuted = {
        one["statement"] for one in record.witnesses if not one["without"] and not STATEMENTS[one["statement"]].wants_violation
    }
    assert [name for name, item in STATEMENTS.items() if item.proof and (name in refuted or name not in known)] == []


def served(proofs):
    """The ids of the statements that each proof serves, by its name."""
    found, texts = {}, {}
    for key, proof in proofs.items():
        name, text = (proof.name, proof.text) if isinstance(proof, Proof) else (key, proof)
        if text:
            assert texts.setdefault(name, text) == text, f"two proofs are named {name!r}"
            found.setdefault(name, []).append(key)
    return found


def test_one_proof_serves_several_statements():
    given = served({name: item.proof for name, item in STATEMENTS.items()})
    assert all(name in given[item.proof_name] for name, item in STATEMENTS.items() if item.proof)
    assert given["Z: exchange between two reports"] == ["Z.T1", "Z.T1.GSP", "Z.VI.SP"]
    assert sum(len(ids) > 1 for ids in given.values()) > 20
    assert sum(map(len, given.values())) == sum(bool(item.proof) for item in STATEMENTS.values())
    texts = Counter(str(item.proof) for item in STATEMENTS.values() if isinstance(item.proof, str) and item.proof)
    assert [text for text, count in texts.items() if count > 1] == [], "a proof of two statements is an object"
    with pytest.raises(AssertionError, match="two proofs are named 'a name'"):
        served({"K.1": Proof("a name", "because"), "K.2": Proof("a name", "therefore")})


@pytest.mark.deep
def test_a_hypothesis_that_is_needed_is_found_with_its_case():
    claim = planted(hypotheses=Hypotheses(one_resource=True, everywhere=True), trial=wide, confirm=wide)
    finding = investigate(claim, seconds=AMPLE, trials=200)
    assert finding.status == "not refuted"
    assert set(finding.needed) == {"one_resource"}
    assert not claim.applies_to(finding.needed["one_resource"])


def wide(case):
    """Planted: there are fewer than two resources."""
    margin = case.instance.R - 2
    return Verdict("wide", margin < 0, float(margin), f"{case.instance.R} resources", "counting")


def test_the_search_finds_that_lmmf_is_not_envy_free_without_the_printed_example():
    claim = replace(STATEMENTS["Z.P4"], printed=None)
    finding = investigate(claim, seed=3, seconds=AMPLE, trials=300)
    assert (finding.status, finding.searched["source"]) == ("proved", "search")
    assert measure(Draft.of(finding.case)) == measure(Draft.of(Case(example("zarchy-ex3").instance)))


def test_the_search_refutes_a_printed_table():
    """K Table 1 gives TSF the sharing incentive; the search finds a case with two users."""
    hypotheses = Hypotheses(users=2, equal_weights=True)
    claim = Statement("K.table", "", "", "all", attempted("tsf", sharing), proved("tsf", sharing), hypotheses)
    case = Case(Instance([[1, 1], [1, 0]], [[1, 0], [1, 1]], eligible=[[1, 1], [0, 1]]))
    verdict = claim.violated(case)
    assert verdict is not None
    assert verdict.margin == pytest.approx(1 / 6)
    assert claim.trial(case).margin == pytest.approx(1 / 6)


@pytest.mark.few(14)
@pytest.mark.parametrize("name", [s.id for s in STATEMENTS.values() if s.quantifier == "some" and s.printed])
def test_printed_counterexamples_are_admitted_and_violate_exactly(name):
    statement = STATEMENTS[name]
    verdict = statement.violated(statement.printed)
    assert verdict is not None
    assert verdict.margin > 0
    assert statement.trial(statement.printed).margin == pytest.approx(verdict.margin, rel=1e-6)
    assert statement.trial(statement.printed).holds is False


def test_statements_about_one_printed_case():
    right = planted(quantifier="one", printed=Case(Instance([[1, 1], [1, 1]], [[1, 1]])))
    wrong = planted(quantifier="one", printed=Case(Instance([[1, 1], [1, 3]], [[1, 1]])))
    assert investigate(right).status == "proved"
    assert investigate(wrong).status == "refuted"
    assert witnesses_of(right, investigate(right)) == []
    (witness,) = witnesses_of(wrong, investigate(wrong))
    assert verify_witness(wrong, witness)
    with pytest.raises(ValueError, match="has none"):
        planted(quantifier="one")


def test_statements_are_registered_once():
    with pytest.raises(ValueError, match=r"two statements are named .Z\.P4."):
        claims._of_the_papers(lambda _: [STATEMENTS["Z.P4"]] * 2, "statement", "statements")
    with pytest.raises(ValueError, match="of no paper"):
        claims._of_the_papers(lambda _: [planted(id="Q.1")], "statement", "statements")
    for item in STATEMENTS.values():
        table = PRINTED.get(item.table)
        assert not item.table or (item.mechanism in table.mechanisms and item.property in table.properties), item.id


# ---- findings that are kept -----------------------------------------------------------------------------------------


def test_findings_survive_json():
    finding = investigate(planted(), seconds=AMPLE, trials=200)
    again = parse_finding(json.loads(json.dumps(finding.document())))
    assert again.document() == finding.document()


def test_a_run_that_was_interrupted_resumes(tmp_path):
    calls = []

    def interrupted(case):
        calls.append(case)
        raise KeyboardInterrupt

    first, second = planted(id="K.first"), planted(id="K.second")
    ask = {"time_limit": 20, "jobs": 1, "trials": 200, "store": tmp_path / "findings.sqlite"}
    with pytest.raises(KeyboardInterrupt):
        verify([first, replace(second, trial=interrupted)], **ask)
    assert calls
    findings = verify([replace(first, trial=interrupted), second], **ask)  # the first is not tried again
    assert len(calls) == 1
    assert [f.status for f in findings.values()] == ["refuted", "refuted"]
    with FindingStore(tmp_path / "findings.sqlite") as store:
        assert store.findings(1).keys() == {"K.first", "K.second"}
        assert {w["statement"] for w in store.witnesses()} == {"K.first", "K.second"}


def test_a_run_about_a_file_is_begun_anew(tmp_path):
    """Its functions may be others by then: a claim that every case violated was "not refuted" as before."""
    ask = {"time_limit": 20, "jobs": 1, "trials": 30, "store": tmp_path / "findings.sqlite", "files": ["mine.py"]}
    with FindingStore(ask["store"]) as kept:
        run = kept.run({"seed": 0, "budget": 20, "trials": 30, "fresh": False, "statements": ["K.planted"]})
        kept.add(run, Finding("K.planted", Status.NOT_REFUTED, "not refuted", 30, {}), [])
    assert verify([planted()], **ask)["K.planted"].status == "refuted"


def test_a_stored_witness_comes_first(tmp_path):
    ask = {"time_limit": 20, "jobs": 1, "store": tmp_path / "findings.sqlite"}
    assert verify([planted()], trials=200, **ask)["K.planted"].status == "refuted"
    blind = planted(trial=harmless)  # the search sees nothing, the stored case is confirmed all the same
    finding = verify([blind], trials=30, **ask)["K.planted"]
    assert (finding.status, finding.searched["source"]) == ("refuted", "stored")
    assert verify([blind], trials=30, fresh=True, **ask)["K.planted"].status == "not refuted"


def test_a_witness_refutes_the_same_claim_in_another_place(tmp_path, monkeypatch):
    """Both say the same, and one search sees nothing. A claim about another property gets nothing."""
    cell = {"mechanism": "tsf", "property": "pareto"}
    first, second = planted(id="K.1", **cell), planted(id="K.2", trial=harmless, **cell)
    other = replace(second, id="K.3", property="envy-freeness")
    monkeypatch.setattr(laboratory, "all_statements", lambda: {s.id: s for s in (first, second, other)})
    path = tmp_path / "findings.sqlite"
    assert verify([first], time_limit=20, trials=200, jobs=1, store=path)["K.1"].status == "refuted"
    found = verify([second, other], time_limit=20, trials=30, jobs=1, store=path)
    assert (found["K.2"].status, found["K.2"].searched["source"]) == ("refuted", "related")
    assert found["K.3"].status == "not refuted"


@pytest.mark.deep
def test_a_killed_run_resumes(tmp_path):
    """SIGKILL in the middle of `fairalloc theorems verify`, then the same once more."""
    store = tmp_path / "findings.sqlite"
    some = ["W.P1", "W.P2", "W.P3", "Z.P9", "Z.T1", "Z.T2"]
    ids = [word for name in some for word in ("--id", name)]
    command = ["theorems", "verify", *ids, "--time-limit", "60s", "--trials", "8", "--jobs", "2", "--store", str(store)]
    start = [sys.executable, "-P", "-c", "import sys; from fairalloc.cli import main; sys.exit(main(sys.argv[1:]))", *command]
    process = subprocess.Popen(start, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    first: dict[str, Finding] = {}
    for _ in range(600):
        time.sleep(0.1)
        if store.exists():
            with FindingStore(store) as kept:
                first = kept.findings()
        if first:
            break
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert 0 < len(first) < len(some)
    assert main(command) == 0
    with FindingStore(store) as kept:
        last = kept.findings(1)
        assert kept.findings(2) == {}, "it is the same run"
    assert last.keys() == set(some)
    assert all(last[name].seconds == finding.seconds for name, finding in first.items()), "what was done was not done again"


@pytest.mark.deep
def test_a_worker_that_fails_says_so():
    request = {"statement": "Q.1", "seed": 0, "seconds": 1, "trials": 1, "known": {}, "until": math.inf}
    with Pool(laboratory.WORKER) as pool:
        assert pool.ask(Task(request, 60)) == NoAnswer("error", "KeyError: 'Q.1'")
        assert pool.ask(Task(request | {"statement": "Z.P4"}, 60))["status"] == "proved", "it goes on"
        slow = request | {"statement": "W.P1", "seconds": 60, "trials": None}
        assert pool.ask(Task(slow, 0.5)) == NoAnswer("time", "it took too long")
        assert pool.ask(Task(request, 60)) == NoAnswer("error", "KeyError: 'Q.1'"), "the next is answered"


@pytest.mark.deep
def test_a_wait_without_end_ends():
    """More seconds than `select` can count."""
    some = [STATEMENTS["W.Fig2"], STATEMENTS["W.Fig3"]]
    assert {f.status for f in verify(some, time_limit=1e30, jobs=2).values()} == {"proved"}


def test_an_answer_that_is_no_finding_fails_its_statement_alone(monkeypatch):
    monkeypatch.setattr(Pool, "answers", lambda _, tasks, until: ((task, {"status": "not refuted"}) for task in tasks))
    found = verify([STATEMENTS["W.Fig2"], STATEMENTS["W.Fig3"]], time_limit=10, jobs=2)
    assert [f.sentence for f in found.values()] == ["the check failed: KeyError: 'case'"] * 2


def test_a_statement_has_limits_of_time_and_memory(monkeypatch):
    asked = []

    def answers(_, tasks, until):
        for task in tasks:
            asked.append(task)
            yield task, NoAnswer("memory", "over the memory limit of 1 MB")

    monkeypatch.setattr(Pool, "answers", answers)
    found = verify([STATEMENTS["W.Fig2"], STATEMENTS["W.Fig3"]], time_limit=10, jobs=2)
    assert [f.sentence for f in found.values()] == ["the check failed: over the memory limit of 1 MB"] * 2
    assert {task.memory_mb for task in asked} == {laboratory.MEMORY_MB}
    assert all(task.seconds == 3 * task.request["seconds"] + laboratory.GRACE for task in asked)


def test_a_worker_ends_with_its_parent():
    """SIGKILL of the parent, which then closes nothing."""
    script = """
import threading, time
from fairalloc.runs.processes import Pool, Task
from fairalloc.theorems.search.laboratory import WORKER
pool = Pool(WORKER)
request = {"statement": "W.P3", "seed": 0, "seconds": 60, "trials": None, "known": {}, "until": 1e9 + time.time()}
pool.ask(Task(request | {"statement": "Q.1"}, 60))
threading.Thread(target=pool.ask, args=(Task(request, 60),), daemon=True).start()
print(*pool.process_ids, flush=True)
time.sleep(60)
"""
    parent = subprocess.Popen([sys.executable, "-P", "-c", script], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    worker = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    for _ in range(600):
        if not _alive(worker):
            break
        time.sleep(0.1)
    else:
        os.kill(worker, signal.SIGKILL)
        pytest.fail("the worker goes on for nobody")
    assert not _alive(worker)


def _alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_the_budget_stops_what_is_under_way_and_begins_nothing_more(tmp_path):
    def sleeping(_):
        time.sleep(600)

    told, path, store = [], tmp_path / "kept.json", tmp_path / "findings.sqlite"
    quick, slow = planted(id="K.1"), planted(id="K.2", trial=sleeping)
    unbegun, certain = planted(id="K.3"), planted(id="K.4", proof="because")
    several = {item.id: item for item in (quick, slow, unbegun, certain)}
    found = verify(several.values(), time_limit=6, jobs=1, trials=200, store=store, tell=lambda one: told.append(one.statement))
    assert told == ["K.1", "K.2"], "each as soon as it is there"
    assert [one.finished for one in found.values()] == [True, False, False, False]
    assert [one.status for one in found.values()] == ["refuted", "not decided", "not decided", "proved"]
    tried = "not refuted in 0 cases, but fewer than 20 decide nothing"
    assert found["K.2"].sentence == f"{tried}; stopped when the budget ended"
    assert found["K.4"].sentence == "proved: K.4; not begun when the budget ended"
    with FindingStore(store) as kept:
        assert kept.findings().keys() == {"K.1"}
    assert write_witnesses(several, found.values(), path).searched.keys() == {"K.1"}
    assert [*changes(several, found, WitnessRecord())] == ["K.1: refuted (to the letter); not on record before"]


FAR = Case(Instance([[0, 1], [0, 3]], [[1, 1]]))


def endless(_):
    time.sleep(600)


def test_a_search_tries_the_known_witnesses_first_so_that_no_limit_leaves_them_out():
    kept = []
    with alarm(0.2):
        finding, _ = Sought(planted(trial=endless), known=[("K.1", FAR)]).searched(AMPLE, None, 0, kept.append)
    for one in (finding, kept[1]):
        assert (one.status, one.case, one.searched["source"]) == ("refuted", FAR, "on record for K.1")


@pytest.mark.skipif(not AVAILABLE, reason="processes cannot be forked here")
def test_a_process_that_dies_at_a_known_witness_has_said_what_it_knew():
    dying = Sought(planted(confirm=lambda _: os._exit(1)), known=[("K.1", FAR)])
    finding, _ = dying.searched_in_a_child(AMPLE, None, 0)
    assert (finding.status, finding.trials) == ("not decided", 0)
    assert finding.sentence.endswith("; its process ended with exit code 1")


def test_what_a_related_case_refutes_stays_so_where_the_search_does_not_end():
    item = planted(trial=endless)
    found = investigate(item, seconds=AMPLE, known={RELATED: [FAR]}, ends=0.2)
    assert (found.status, found.case, found.finished) == ("refuted", FAR, True)
    stopped = investigate(item, seconds=AMPLE, ends=0.1)
    assert (stopped.trials, stopped.finished) == (0, False)


def test_the_ending_says_what_gives_more_cases():
    left = unfinished(planted(), "stopped")
    assert "A longer --time-limit tries more cases.\nstopped when the budget ended: 1; without a" in cli_theorems._ending(
        {left.statement: planted()}, {left.statement: left}
    )
    begun = cli_theorems._ending({"K.T1": STATEMENTS["K.T1"]}, {"K.T1": unfinished(STATEMENTS["K.T1"], "not begun")})
    assert "  violated in" in begun, "the head says what was seen, not only where; its words may be on two lines"
    assert begun.endswith("Changed against the record:\nnothing in the 0 of 1 whose search ended\n")


def test_a_budget_that_has_ended_begins_nothing():
    found = verify([STATEMENTS["W.S5.2.worse"], STATEMENTS["W.P1"]], time_limit=5, jobs=2, start=time.monotonic() - 60)
    assert [(one.status, one.finished) for one in found.values()] == [("not decided", False), ("proved", False)]


def test_requests_end_when_their_time_has_ended():
    """Also while a server is being started."""
    slow = Task({"statement": "W.P1", "seed": 0, "seconds": 60, "trials": None, "known": {}, "until": math.inf}, 60)
    with Pool(laboratory.WORKER) as pool:
        answers = [*pool.answers([slow, slow], time.monotonic() + 0.3)]
        assert [(task, answer.cause) for task, answer in answers] == [(slow, "time")], "the second is not sent"
        assert pool.process_ids == []


def test_a_run_says_what_is_otherwise_than_on_record():
    item, case = planted(), Case(Instance([[0, 1], [0, 1]], [[1, 1]]))
    larger = Case(Instance([[0, 1], [0, 2], [0, 2]], [[1, 1]]))
    verdict = Verdict("spread", False, 1.0, "so", "rational arithmetic")
    witness = {"statement": item.id, "without": "", "case": larger.document(), "verdict": verdict_document(verdict), "found": {}}
    record = WitnessRecord([witness], {item.id: {"status": "refuted", "trials": 9, "seed": 0}})

    def said(status, found=None, **searched):
        finding = Finding(item.id, Status(status), "so it is", 40, searched, found, verdict if found else None)
        return [*changes({item.id: item}, {item.id: finding}, record)]

    assert said("refuted", larger) == []
    assert said("refuted", case) == ["K.planted: a smaller case than on record"]
    assert said("not refuted") == ["K.planted: refuted (to the letter) on record, not refuted now (so it is)"]
    assert said("not decided", unfinished="stopped") == []
    record = WitnessRecord([], {item.id: {"status": "not refuted", "trials": 900, "seed": 0}})
    assert said("not decided") == [], "fewer cases were tried"
    record = WitnessRecord([], {item.id: {"status": "not refuted", "trials": 30, "seed": 0}})
    assert said("not decided") == ["K.planted: not refuted in 30 trials on record, not decided now (so it is)"]


def test_one_search_ends_by_itself_before_the_budget_does():
    """It is told how long it may take, and what it saw until then counts."""
    found = verify([planted(trial=harmless)], time_limit=2, jobs=1, start=time.monotonic())["K.planted"]
    assert found.finished
    assert found.trials > 0


def test_a_check_that_fails_is_a_finding():
    """It is kept with the first case on which it failed, and does not end the search."""

    def broken(_):
        raise ZeroDivisionError("in the check")

    finding = verify([planted(trial=broken)], time_limit=2, jobs=1)["K.planted"]
    assert finding.status == "not decided"
    assert finding.sentence.endswith(f"the check failed on {finding.searched['failed']}: ZeroDivisionError: in the check")
    assert finding.case is not None


def test_an_allocation_with_a_residual_decides_nothing():
    case = Case(example("wang-fig2").instance)
    assert attempted("drfh", envy)(case).holds is True
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trials, "TOLERANCE", -1.0)
        assert attempted("drfh", envy)(case).holds is None


def test_strangers_are_looked_at_in_this_process_only():
    with pytest.raises(InstanceError, match="not registered"):
        verify([planted(), planted(id="K.other")], time_limit=1, jobs=2)


# ---- witnesses ------------------------------------------------------------------------------------------------------


def test_witnesses_survive_a_file_and_are_rejected_when_perturbed(tmp_path):
    statement = planted()
    finding = investigate(statement, seconds=AMPLE, trials=200)
    path = tmp_path / "witnesses.json"
    known = {statement.id: statement}
    (witness,) = write_witnesses(known, [finding], path).witnesses
    assert write_witnesses({}, [], path).witnesses == [witness], "a run about others loses nothing"
    assert verify_witness(statement, witness)
    for k, row in enumerate(witness["case"]["instance"]["users"]):
        changed = json.loads(json.dumps(witness))
        changed["case"]["instance"]["users"][k]["demands"][0][1] = str(Fraction(str(row["demands"][0][1])) * Fraction(9, 8))
        assert not verify_witness(statement, changed)
    assert not verify_witness(statement, witness | {"verdict": witness["verdict"] | {"margin": 0.5}})
    assert not verify_witness(statement, witness | {"case": {}})
    assert not verify_witness(statement, witness | {"without": "nothing"})


def test_there_are_witnesses_in_the_package():
    assert {w["statement"] for w in packaged().witnesses} >= {"W.P4", "Z.P4", "Z.P6", "Z.P8"}


@pytest.mark.few(30)
@pytest.mark.parametrize("witness", packaged().witnesses, ids=lambda w: f"{w['statement']}-{w['without']}")
def test_every_witness_of_the_package_is_confirmed(witness):
    verdict = verify_witness(STATEMENTS[witness["statement"]], witness)
    assert verdict, verdict.sentence
    assert as_told(verdict_document(verdict)) == as_told(witness["verdict"]), "it is told as it would be today"


# ---- command line ----------------------------------------------------------------------------------------


def test_the_command_line(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ask = ["theorems", "verify", "--id", "Z.P4", "--id", "W.P1", "--time-limit", "20s", "--jobs", "1", "--trials", "8"]
    assert main([*ask, "--format", "json", "--keep", "kept.json"]) == 0
    documents = {d["statement"]: d for d in json.loads(capsys.readouterr().out)}
    assert documents["Z.P4"]["case"] is not None
    assert documents["W.P1"]["trials"] > 0
    kept = {(w["statement"], w["without"]) for w in json.loads(Path("kept.json").read_text())["witnesses"]}
    assert ("Z.P4", "") in kept
    assert ("W.P1", "") not in kept
    few = {name: STATEMENTS[name] for name in ("Z.P4", "Z.P6", "W.P1")}
    monkeypatch.setattr(cli_theorems, "all_statements", lambda: few)
    assert main(["theorems", "verify", "--paper", "Z", "--time-limit", "2s", "--jobs", "1", "--trials", "8"]) == 0
    out = capsys.readouterr().out
    assert "Statements by paper" in out
    assert "Instance([[[1]], [['1/2']]], [[1]])" in out
    assert main(["matrix", "--format", "markdown"]) == 0
    assert "| envy-freeness |" in capsys.readouterr().out
    assert main(["theorems", "list"]) == 0


@pytest.mark.parametrize("action", ["verify", "prove"])
@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        (".", "'.' cannot be written: Is a directory"),
        ("no/kept.json", "'no/kept.json' cannot be written: No such file or directory"),
        ("mine.json", "mine.json holds no "),
        ("shape.json", "shape.json holds no "),
        ("text.json", "text.json is not JSON: Expecting value in line 1"),
    ],
)
def test_a_file_that_cannot_be_kept_is_refused_before_the_search(action, file, sentence, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    own = {"verify": "fairalloc-witnesses/1", "prove": "fairalloc/machine-proofs-1"}[action]
    shape = json.dumps({"schema": own, "witnesses": [{}], "searched": {}, "proofs": [{}]})
    texts = {"mine.json": '{"schema": "mine"}', "text.json": "text", "shape.json": shape}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(cli_theorems, "verify", lambda *_, **__: pytest.fail("it was searched"))
    monkeypatch.setattr(cli_theorems, "_able", lambda *_, **__: pytest.fail("it was proved"))
    assert main(["theorems", action, *["--id"] * (action == "verify"), "W.P4", "--keep", file]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert said.err.startswith(f"fairalloc: --keep: {sentence}")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == texts


@pytest.mark.parametrize("action", ["verify", "prove"])
def test_what_was_found_before_an_interrupt_is_kept(action, monkeypatch, tmp_path):
    file, asked = tmp_path / "kept.json", iter([MachineVerdict("P.T2.sharing", (2, 2, 2), "proved", "proved")])

    def search(*_, tell, **__):
        tell(Finding("W.P4", Status.NOT_REFUTED, "nothing was found", 7, {}))
        raise KeyboardInterrupt

    def decide(*_, **__):
        if one := next(asked, None):
            return one
        raise KeyboardInterrupt

    monkeypatch.setattr(cli_theorems, "verify", search)
    monkeypatch.setattr(machine, "prove", decide)
    words = ["--id", "W.P4"] if action == "verify" else ["P.T2.sharing", "W.P4"]
    assert main(["theorems", action, *words, "--keep", str(file)]) == 130
    assert len(kept_proofs(file) if action == "prove" else kept_witnesses(file).searched) == 1


def test_before_the_search_no_file_is_made(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "led.json").symlink_to(tmp_path / "nowhere.json")
    found = []
    monkeypatch.setattr(cli_theorems, "verify", lambda *_, **__: found.append(sorted(tmp_path.iterdir())) or {})
    for name in ("kept.json", "led.json"):
        assert main(["theorems", "verify", "--id", "W.P4", "--keep", name, "--format", "json"]) == 0
        assert json.loads((tmp_path / name).read_text())["witnesses"] == []
    assert found == [[tmp_path / "led.json"], [tmp_path / "kept.json", tmp_path / "led.json"]]


def test_ids_of_what_was_left_are_wrapped():
    left = {name: unfinished(item, "not begun") for name, item in STATEMENTS.items() if not item.proof}
    lines = cli_theorems._ending(STATEMENTS, left).splitlines()
    first = next(
        k for k, line in enumerate(lines) if line.startswith(f"not begun when the budget ended: {len(left)}; without a ")
    )
    ids = "".join(lines[first : lines.index("", first)]).partition("proof: ")[2].replace(",", " ").split()
    assert ids == [name for name, one in left.items() if one.status == Status.NOT_DECIDED]
    assert len(ids) > 40
    assert max(map(len, lines)) <= 130
    few = {"Z.P7": left["Z.P7"], "Z.P8": replace(left["Z.P8"], searched={})}
    assert re.search(r"^Z +0 +0 +0 +0 +1 +0$", cli_theorems._ending(STATEMENTS, few), re.MULTILINE), "Z.P8 alone was looked at"


def test_results_are_written_as_they_come_and_an_interrupt_leaves_them(monkeypatch, capsys, tmp_path):
    finding = Finding("Z.P4", Status.PROVED, "a sentence", 7, {})

    def looked_at(*_, tell, **__):
        tell(finding)
        assert capsys.readouterr().out == "1/2 Z.P4: proved: a sentence\n", "before the next is looked at"
        tell(replace(finding, statement="Z.C2", status=Status.NOT_REFUTED))
        raise KeyboardInterrupt

    monkeypatch.setattr(cli_theorems, "verify", looked_at)
    assert main(["theorems", "verify", "--id", "Z.P4", "--id", "Z.C2", "--store", str(tmp_path / "f.sqlite")]) == 130
    said = capsys.readouterr()
    assert said.out.startswith("2/2 Z.C2: not refuted: a sentence\n\nStatements by paper\n")
    assert "Changed against the record:\nZ.C2: refuted (to the letter) on record, not refuted now (a sentence)\n" in said.out
    assert said.err == "fairalloc: interrupted; results that were already written to a file remain there\n"


def test_filters_combine(monkeypatch, capsys):
    asked = []

    def looked_at(chosen, *_, **__):
        asked.append([item.id for item in chosen])
        return {}

    monkeypatch.setattr(cli_theorems, "verify", looked_at)
    for words in (
        "--mechanism lmmf --property envy-freeness",
        "--paper Z --status refuted --status proved -m lmmf --property pareto",
    ):
        assert main(["theorems", "verify", *words.split()]) == 0
    assert asked == [["Z.P4", "Z.T2"], ["Z.C3", "Z.V.LMMF.PO"]]
    assert main(["theorems", "show", "--mechanism", "mmf", "--status", "proved"]) == 0
    assert "fairalloc theorems show Z.MMF.pareto " in capsys.readouterr().out


def test_an_interrupt_is_one_sentence(monkeypatch, capsys, tmp_path):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli_theorems, "verify", interrupted)
    assert main(["theorems", "verify", "--id", "Z.P4", "--store", str(tmp_path / "f.sqlite")]) == 130
    assert capsys.readouterr().err == "fairalloc: interrupted; results that were already written to a file remain there\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["theorems", "verify", "--id", "Q.1"], "there is no statement 'Q.1'"),
        (["theorems", "verify", "--time-limit", "soon"], "it is 'soon', but it must be a time such as 90s"),
        (["theorems", "verify", "--time-limit", "0s"], "--time-limit is 0.0, but it must be a positive number"),
        (["theorems", "verify", "--trials", "0"], "trials is 0, but it must be a positive whole number"),
        (["theorems", "verify", "--seed", "-1"], "seed is -1, but it must be a whole number, 0 or more"),
        (["theorems", "verify", "--jobs", "0"], "jobs is 0, but it must be a whole number from 1 to 1024"),
        (["theorems", "verify", "--id", "Z.P4", "--paper", "K"], "none of these statements fits --paper 'K'"),
        (["theorems", "verify", "--status", "held"], "invalid choice: 'held' (choose from "),
        (
            ["theorems", "verify", "--mechanism", "dr"],
            "no statement is about the mechanism 'dr': it must be one of alpha-pf-vds, drf, ",
        ),
        (
            ["theorems", "verify", "--property", "x"],
            "no statement is about the property 'x': it must be one of bottleneck-fairness, ",
        ),
    ],
)
def test_errors_are_one_sentence(arguments, sentence, capsys, tmp_path):
    try:
        code = main([*arguments, "--store", str(tmp_path / "f.sqlite")])
    except SystemExit as end:  # of the parser
        code = end.code
    assert code == 2
    assert sentence in capsys.readouterr().err


def test_what_is_refuted_is_in_the_errata():
    text = (ROOT / "docs" / "papers" / "errata.md").read_text(encoding="utf-8")
    refuted = [name for name, last in packaged().searched.items() if last["status"] == "refuted"]
    assert len(refuted) > 50
    missing = [name for name in refuted if not re.search(re.escape(name) + r"(?![\w-])(?!\.\w)", text)]
    assert missing == []


def test_no_witness_of_the_package_refutes_what_it_does_not_call_refuted():
    """Nor does one that was found for another statement about the same mechanism and property."""
    known, tried = laboratory._Known(packaged().witnesses), 0
    for name, last in packaged().searched.items():
        claim = STATEMENTS[name]
        if last["status"] not in ("not refuted", "proved", "proved by machine") or claim.quantifier in ("one", "some"):
            continue
        for case in known.of(claim)[RELATED]:
            assert claim.violated(parse_case(case)) is None, name
            tried += 1
    assert tried > 20


@pytest.mark.deep
def test_a_violation_that_floating_point_calls_rounding_is_found():
    """By 1e-9 in every case of two users; by less than ROUNDING it stays unseen."""

    def tiny(exactly, size):
        def check(case):
            margin = size if case.instance.N == 2 else Fraction(-1)
            holds = margin <= (0 if exactly else TOLERANCE)
            return Verdict("tiny", holds, float(margin), f"{margin}", "")

        return check

    visible, unseen = (
        planted(trial=tiny(False, size), confirm=tiny(True, size)) for size in (Fraction(1, 10**9), Fraction(1, 10**12))
    )
    finding = investigate(visible, seconds=AMPLE, trials=300)
    assert finding.status == "refuted"
    assert finding.case is not None
    assert finding.case.instance.N == 2
    assert investigate(unseen, seconds=AMPLE, trials=300).status == "not refuted"


def test_samples_have_classes_of_servers_where_several_servers_are_allowed():
    assert any(case.instance.counts.max() > 1 for case in samples(ANY, 120))
    assert all(case.instance.counts.max() == 1 for case in samples(replace(ANY, one_server=True), 120))


def test_what_failed_is_tried_again_when_a_run_is_resumed(tmp_path, monkeypatch):
    path = tmp_path / "findings.sqlite"
    with FindingStore(path) as kept:
        asked = {"seed": 0, "budget": 20, "trials": 30, "fresh": False, "statements": ["K.planted"]}
        kept.add(kept.run(asked), laboratory._failed(planted(), "its process ended"), [])
    found = verify([planted(trial=harmless)], time_limit=20, trials=30, jobs=1, store=path)
    assert found["K.planted"].status == "not refuted"


def test_a_finding_is_a_short_text_and_a_table_in_a_notebook():
    unrefuted = Finding("K.x", Status.NOT_REFUTED, "no <b> found", 40, {})
    assert repr(unrefuted) == "<finding K.x: not refuted, 40 trials: no <b> found>"
    assert "<td>no &lt;b&gt; found</td>" in unrefuted._repr_html_()


def test_witnesses_serve_related_statements():
    """What violates a property of a mechanism is tried on all statements about it, and a single user who misreports is a
    coalition.
    """
    claim = STATEMENTS["P.II-B.tsf.sharing"]
    known = laboratory._Known(w for w in packaged().witnesses if w["statement"] == "K.2.2.tsf.sharing")
    misreports = [w for w in packaged().witnesses if w["statement"] == "Z.P6"]
    known.add(misreports)
    assert known.of(STATEMENTS["Z.T1.GSP"])[RELATED] == [w["case"] for w in misreports], (
        "strategyproofness follows from the other"
    )
    cases = [parse_case(case) for case in known.of(claim)[RELATED]]
    assert cases
    assert not known.of(STATEMENTS["W.P1"])[RELATED]
    finding = investigate(claim, trials=1, known={RELATED: cases})
    assert (finding.status, finding.searched["source"]) == ("refuted", "related")
    other = investigate(claim, trials=1, known={RELATED: [Case(Instance([[1], [1]], [[1]]))]})
    assert other.case is None


def test_a_file_of_findings_that_cannot_be_used(tmp_path):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(InstanceError, match="cannot be used as a file of findings"):
        verify([planted()], time_limit=1, jobs=1, store=tmp_path / "file" / "f.sqlite")
    with FindingStore(tmp_path / "f.sqlite") as kept:
        kept._db.execute("PRAGMA query_only = 1")
        with pytest.raises(InstanceError, match="nothing can be kept in the file of findings: attempt to write a readonly"):
            kept.run({})


def test_shrinking_may_try_a_limit_of_0():
    """No instance has one, so the draft is refused as an instance, after its points were made to fit."""
    case = Case(Instance([[1], [1]], [[1]], max_tasks=["1/2", "1/2"]), points=((Fraction(1, 2), Fraction(0)),))
    draft = Draft.of(case)
    draft.users[0].limit[0] = Fraction(0)
    Hypotheses(unlimited=False, points=1).impose(draft)
    with pytest.raises(InstanceError, match="max_tasks"):
        draft.case()


def test_packing_finds_the_best_vertex():
    """Z (1) by vertices and by the linear program, in rationals and in floating point; Z Fig. 1 packs 35/4 tasks."""
    rows = example("zarchy-fig1").instance.exact.demands[0]
    assert plain_judges._packed(rows, (Fraction(11), Fraction(11), Fraction(13))) == Fraction(35, 4)
    assert plain_judges._solved([[0.3, 0.1], [0.9, 0.1 * 3]], [1.0, 1.0]) is None, "singular but for rounding"
    for case in samples(Hypotheses(one_server=True, one_variant=False), 25):
        alone = case.instance.replace(
            demands=case.instance.exact.demands[:1], eligible=None, weights=None, max_tasks=None, users=["u"]
        )
        pool = alone.exact.capacities[0]
        rows = [row for row in alone.exact.demands[0] if all(c or not d for c, d in zip(pool, row, strict=True))]
        best = solve(alone, "utilitarian", "exact").tasks_exact[0]
        assert plain_judges._packed(rows, pool) == best
        floats = [list(map(float, row)) for row in rows]
        assert plain_judges._packed(floats, list(map(float, pool))) == pytest.approx(float(best), rel=ROUNDING)


def test_judges_see_the_printed_numbers():
    """Z Example 3 under LMMF: user 2 runs 2/3 tasks and would run 4/3 with what user 1 holds."""
    case = Case(example("zarchy-ex3").instance)
    verdict = proved("lmmf", envy)(case)
    assert verdict.sentence == "user 'u2' runs 2/3 tasks, and 4/3 with the resources of 'u1'"
    assert proved("nb", envy)(case).holds is None, "equal parts: no violation, and no slack that bounds could show"
    assert attempted("drfh", envy)(case).holds is True


@pytest.mark.deep
def test_statements_are_listed_as_far_as_they_fit(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "130")  # in narrower terminals the longest names have two lines
    assert main(["theorems", "list", "K.T3", "--status", "refuted"]) == 0
    listed = {line.split()[0] for line in capsys.readouterr().out.splitlines()}
    refuted = {name for name, item in STATEMENTS.items() if on_record(item, packaged(), again=False).status == Status.REFUTED}
    assert listed == {name for name in refuted if name.startswith("K.T3.")} != set()
    assert main(["theorems", "list"]) == 0
    out = capsys.readouterr().out
    assert [name for name in STATEMENTS if f"\n{name} " not in f"\n{out}"] == []
