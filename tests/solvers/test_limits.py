"""No call dies or overruns: limits by a fake clock and methods that hang, broken libraries, Ctrl-C, threads."""

import contextlib
import errno
import io
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import replace
from pathlib import Path

import cvxpy as cp
import numpy as np
import pyomo.environ as pyo
import pytest
from tolerances import RESIDUAL, SHARES

from fairalloc.analysis.certificates import certify, construct
from fairalloc.analysis.certificates.construct import certified_answer
from fairalloc.analysis.explanations import explain
from fairalloc.analysis.properties import check, check_mechanism
from fairalloc.analysis.solution_sets import solution_set
from fairalloc.cli import main
from fairalloc.formulations import Mechanism, mechanism
from fairalloc.formulations.common.tasks import cvxpy_tasks
from fairalloc.formulations.ps_dsf import PsDsf
from fairalloc.models import Allocation, FairallocError, Instance, InstanceError, NotApplicable
from fairalloc.models.allocation import Times
from fairalloc.models.exact.hierarchical_filling import _Filling
from fairalloc.models.examples import generators
from fairalloc.models.examples.published import example
from fairalloc.models.transformations.aggregation import pooled
from fairalloc.models.transformations.own_time import with_own_time
from fairalloc.runs.objects import MECHANISM, load_object
from fairalloc.solvers import METHODS, judged, solve, solve_many
from fairalloc.solvers.backends.pyomo import CasadiProgram
from fairalloc.solvers.catalogue.method_registry import candidates
from fairalloc.solvers.iis import conflict
from fairalloc.solvers.judge import proved, reference_allocation
from fairalloc.solvers.method import UNFOUNDED, Answer, Limits, Method, Session, Stopped
from fairalloc.solvers.options import Judging
from fairalloc.solvers.running import dispatch, time_limits
from fairalloc.solvers.running.dispatch import LARGE, Request, best_attempt
from fairalloc.solvers.running.warm_start import equal_partition

DRFH = mechanism("drfh")
WANG = example("wang-fig2").instance
BIG = generators.generic(60, 50, 4, 0)
forks = pytest.mark.skipif(not time_limits.AVAILABLE, reason="processes cannot be forked here")


class Clock:
    """Until it stands still it is `step` seconds later whenever it is looked at: nothing waits for the system's seconds."""

    def __init__(self, step=1.0, until=np.inf):
        self.seconds, self.step, self.until = 0.0, step, until

    def __call__(self):
        self.seconds += self.step if self.seconds < self.until else 0.0
        return self.seconds


class Double(Method):
    """A method made of one function of the session; it computes everything."""

    id, kind = "test:double", "exact"

    def __init__(self, action, id="test:double"):
        self.action, self.id = action, id

    def computes(self, mechanism):
        return True

    def open(self, mechanism, instance, limits):
        return Session(mechanism, instance, limits)

    def compute(self, mechanism, session):
        return self.action(session)


def hang(session):
    while True:
        time.sleep(3600)


def hang_with_a_point(session):
    session.x = np.zeros(len(session.instance.arcs))
    hang(session)


def deaf(session):
    """As native code: it does not hear that it should end."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    hang(session)


def right(session):
    answer = METHODS["highs:leximin"].run(DRFH, session.instance, session.limits)
    return answer.x, answer.prices


def within(limit, *methods, instance=BIG, step=40.0, until=np.inf):
    clock = Clock(step, until)
    allocation = best_attempt(Request(DRFH, instance, Limits(deadline=limit, clock=clock)), methods)
    return allocation, clock.seconds


# ---- the limit holds for the whole call ---------------------------------------------------------------------------------


def test_the_hanging_doubles_have_a_large_instance():
    assert len(BIG.arcs) * BIG.R >= LARGE > len(WANG.arcs) * WANG.R


@forks
@pytest.mark.parametrize("action", [hang, hang_with_a_point, deaf])
def test_a_method_that_hangs_is_ended(action):
    limit = 1000.0
    allocation, seconds = within(limit, Double(action))
    assert allocation.termination == "time_limit"
    assert not allocation.claims_success
    assert seconds <= 1.2 * limit + 1


@forks
def test_the_point_of_a_method_that_is_ended_is_kept():
    kept, _ = within(1000.0, Double(hang_with_a_point))
    assert kept.has_point
    assert kept.termination == "time_limit"
    assert not within(1000.0, Double(deaf))[0].has_point


@forks
def test_the_next_method_gets_what_the_first_has_left():
    allocation, seconds = within(1000.0, Double(hang, "test:first"), Double(right, "test:second"), until=700.0)
    assert allocation.method == "test:second"
    assert allocation.residual <= RESIDUAL
    assert 500 <= seconds <= 800


@forks
def test_all_methods_together_keep_the_limit():
    limit = 1000.0
    allocation, seconds = within(limit, *(Double(hang, f"test:{k}") for k in range(4)))
    assert allocation.termination == "time_limit"
    assert seconds <= 1.2 * limit + 1


def test_methods_share_the_time():
    """Half of what is left for a method that others follow, all of it for the last, everything without a limit."""
    seen = []

    def look(session):
        seen.append(session.limits.deadline)
        return right(session)[0] * 0.9 ** len(seen), None

    doubles = [Double(look, f"test:{k}") for k in range(3)]
    best_attempt(Request(DRFH, WANG, Limits(deadline=64.0, clock=Clock(0.0)), isolate=False), doubles)
    assert seen == [32, 32, 64], "nobody has used any"
    seen.clear()
    best_attempt(Request(DRFH, WANG, Limits(clock=Clock(0.0))), doubles)
    assert seen == [np.inf] * 3


@forks
def test_a_judge_that_hangs_leaves_the_answer(monkeypatch):
    monkeypatch.setattr(dispatch, "judged", lambda *_, **__: hang(None))
    limit = 1000.0
    allocation, seconds = within(limit, Double(lambda session: (np.zeros(len(session.instance.arcs)), None)))
    assert allocation.has_point
    assert "no time left to judge it" in allocation.not_judged
    assert allocation.residual == np.inf
    assert seconds <= 1.2 * limit + 1


@forks
@pytest.mark.parametrize("end", [lambda: os.kill(os.getpid(), signal.SIGKILL), lambda: os._exit(3)])
def test_a_judge_whose_process_dies_is_not_called_late(monkeypatch, end):
    monkeypatch.setattr(dispatch, "judged", lambda *_, **__: end())
    allocation, _ = within(1e6, Double(right))
    assert allocation.has_point
    assert allocation.not_judged.startswith("not judged: its process ended with exit code")
    offers = Double(lambda session: (session.offer(right(session)[0]), end()))
    offered, _ = within(1e6, offers)
    assert (offered.has_point, offered.termination) == (True, "error")
    assert offered.message.startswith("its process ended with exit code")


class TwoParts(Exception):  # noqa: N818
    """What pickle writes, but cannot read: it is made of the message alone."""

    def __init__(self, one, other):
        super().__init__(f"{one} and {other}")


@forks
def test_an_error_that_cannot_be_read_again_is_told_as_text():
    def raises(send):
        raise TwoParts("this", "that")

    with pytest.raises(RuntimeError, match="TwoParts: this and that"):
        time_limits.isolated(raises, np.inf, time.perf_counter)


@forks
def test_what_a_child_raises_is_raised_and_its_death_is_an_error():
    def raises(session):
        raise NotImplementedError("a sentence")

    allocation, _ = within(1e6, Double(raises))
    assert (allocation.termination, allocation.message) == ("error", "NotImplementedError: a sentence")
    allocation, _ = within(1e6, Double(lambda session: os.kill(os.getpid(), signal.SIGKILL)))
    assert (allocation.termination, allocation.message) == ("error", "its process ended with exit code -9")
    with pytest.raises(ZeroDivisionError):
        time_limits.isolated(lambda send: send(1 / 0), np.inf, time.perf_counter)
    sent = time_limits.isolated(lambda send: [send(k) for k in range(3)], np.inf, time.perf_counter)
    assert (sent.messages, sent.ending) == ([2], "done"), "a hundred points of a million arcs would be 800 MB"
    with pytest.raises(FairallocError, match=r"cannot be sent from its process to this one: .*(pickle|get local object)"):
        time_limits.isolated(lambda send: send(lambda: 0), np.inf, time.perf_counter)  # in Python up to 3.12, and since


@forks
def test_a_caller_with_over_a_thousand_open_files_may_set_a_limit():
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    held = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        assert max(held) > 1023
        assert solve(WANG, "nb", method="cvxpy:clarabel", time_limit=60).claims_success
    finally:
        for number in held:
            os.close(number)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class Unread(io.StringIO):
    def flush(self):
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")


def closed():
    with open(os.devnull, "w") as stream:
        return stream


@pytest.mark.parametrize("stream", [lambda: None, closed, Unread], ids=["none", "closed", "unread"])
@pytest.mark.parametrize("asked", [{"time_limit": 60}, {"log": True}, {"log": True, "isolate": False}], ids=str)
def test_a_caller_whose_streams_are_gone_gets_its_answer(monkeypatch, stream, asked):
    monkeypatch.setattr(sys, "stdout", stream())
    monkeypatch.setattr(sys, "stderr", stream())
    assert solve(WANG, "nb", method="cvxpy:clarabel", **asked).claims_success


@forks
@pytest.mark.parametrize("name", ["pipe", "fork"])
def test_where_no_process_can_be_started_one_sentence_says_so(monkeypatch, name):
    def refused():
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    before = len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(os, name, refused)
    with pytest.raises(FairallocError, match=r"no process can be started .* Resource temporarily unavailable; .* isolate=False"):
        solve(WANG, "nb", method="cvxpy:clarabel", time_limit=60)
    assert len(os.listdir("/proc/self/fd")) == before
    assert solve(WANG, "nb", method="cvxpy:clarabel", time_limit=60, isolate=False).claims_success


@forks
def test_the_same_answer_in_a_child():
    with_limit, without = solve(BIG, "drfh", time_limit=600.0), solve(BIG, "drfh")
    np.testing.assert_allclose(with_limit.tasks, without.tasks, rtol=SHARES)
    assert with_limit.residual <= RESIDUAL
    assert with_limit.termination == without.termination == "optimal"


# ---- small instances, and what is not a method --------------------------------------------------------------------------


class Native(Double):
    """A double that needs a package, as solvers in native code do."""

    packages = ("highspy",)


@forks
def test_native_code_that_hangs_on_a_small_instance_is_ended():
    limit = 1000.0
    allocation, seconds = within(limit, Native(deaf), instance=WANG)
    assert allocation.termination == "time_limit"
    assert seconds <= 1.2 * limit + 1


@forks
def test_a_method_of_ones_own_that_hangs_on_a_small_instance_is_ended():
    allocation = solve(WANG, "drfh", lambda instance, mechanism, limits: hang(None), time_limit=0.2)
    assert (allocation.termination, allocation.has_point) == ("time_limit", False)
    assert best_attempt(Request(DRFH, WANG, Limits(deadline=time.perf_counter() + 0.2)), [Double(hang_with_a_point)]).has_point


def swallows(instance, mechanism, limits):
    while True:
        with contextlib.suppress(BaseException):
            time.sleep(3600)


@forks
@pytest.mark.parametrize(
    ("method", "message"),
    [
        (lambda *_: os._exit(3), "its process ended with exit code 3"),
        (lambda *_: os.abort(), "its process ended with exit code -6"),
        (lambda *_: os.closerange(3, 256), "its process ended with exit code"),
        (swallows, "it did not end by itself at the time limit"),
    ],
)
def test_a_method_of_ones_own_neither_ends_nor_outlasts_the_caller(method, message):
    start = time.perf_counter()
    allocation = solve(WANG, "drfh", method, time_limit=0.3)
    assert not allocation.has_point
    assert allocation.message.startswith(message)
    assert time.perf_counter() - start <= 1.2 * 0.3 + 1


class Finalized:
    def __del__(self):
        time.sleep(3600)


@forks
def test_a_request_to_end_that_a_finalizer_loses_is_repeated_and_not_printed(capfd):
    def method(*_):
        Finalized()
        with contextlib.suppress(KeyboardInterrupt):
            time.sleep(3600)
        return [10, 0, 0, 10]

    assert solve(WANG, "drfh", method, time_limit=0.3).has_point
    assert capfd.readouterr().err == ""


def test_without_isolation_what_a_method_notes_is_kept():
    seen = []
    answer = solve(WANG, "drfh", lambda *given: seen.append(os.getpid()) or [10, 0, 0, 10], time_limit=60, isolate=False)
    assert answer.claims_success
    assert seen == [os.getpid()]


ORPHANS = """
import os, sys, time
from fairalloc import solve
from fairalloc.models.examples.published import example
from fairalloc.models.exact.hierarchical_filling import _Filling

def starts(instance, mechanism, limits):
    for apart in (False, True)[: 1 if sys.argv[1] == "dies" else 2]:
        if os.fork() == 0:
            if apart:
                os.setsid()
            os.write(1, b"%d\\n" % os.getpid())
            time.sleep(600)
    if sys.argv[1] == "hangs":
        time.sleep(600)
    if sys.argv[1] == "dies":
        os._exit(1)
    return [10, 0, 0, 10]

limit = 1.0 if sys.argv[1] == "hangs" else 30.0
print(solve(example("wang-fig2").instance, "drfh", starts, time_limit=limit).termination, flush=True)
"""


@pytest.mark.few(1)
@forks
@pytest.mark.parametrize("how", ["ends", "hangs", "dies"])
def test_what_a_method_starts_ends_with_it(how):
    """Also what is in a session of its own, unless the method dies before anybody asks whose it is."""
    said = subprocess.run([sys.executable, "-c", ORPHANS, how], stdout=subprocess.PIPE, text=True, timeout=60, check=True).stdout
    *pids, termination = said.split()
    assert len(pids) == (1 if how == "dies" else 2)
    assert termination == {"ends": "optimal", "hangs": "time_limit", "dies": "error"}[how]
    deadline = time.monotonic() + 5
    while any(map(_runs, pids)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(map(_runs, pids))


def _runs(pid):
    """Whether the process is there and has not ended: a container may wait for nobody."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@forks
@pytest.mark.parametrize("handler", [signal.SIG_IGN, "reaper"])
def test_who_else_waits_for_children_is_no_matter(handler):
    def reap(*_):
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass

    before = signal.signal(signal.SIGCHLD, reap if handler == "reaper" else handler)
    try:
        for method in ("highs", lambda *_: [10, 0, 0, 10]):
            assert solve(WANG, "drfh", method, time_limit=60).claims_success
        died = solve(WANG, "drfh", lambda *_: os._exit(3), time_limit=60)
        assert (died.termination, died.message.removesuffix(" with exit code 3")) == ("error", "its process ended")
    finally:
        signal.signal(signal.SIGCHLD, before)


@forks
def test_a_limit_holds_for_what_comes_before_the_method(monkeypatch):
    tdm = mechanism("ps-dsf-tdm")
    monkeypatch.setattr(type(tdm), "home", lambda *_: hang(None))
    allocation = solve(generators.generic(60, 50, 4, 0), "ps-dsf-tdm", "psdsf-distributed", time_limit=0.2)
    assert (allocation.termination, allocation.has_point) == ("time_limit", False)


def write_most(_, instance):
    x, rows = cvxpy_tasks(instance)
    return cp.Problem(cp.Maximize(cp.sum(x)), rows)


@forks
@pytest.mark.parametrize("place", ["settled", "domain", "home", "write_cvxpy"])
def test_a_mechanism_that_hangs_is_ended(place):
    declared = {"id": "hangs", "linear": True, "convex": True, "integer": False, "write_cvxpy": write_most}
    kind = type("Hangs", (Mechanism,), {**declared, place: lambda *_: hang(None)})
    allocation = solve(WANG, kind(), time_limit=0.2)
    assert (allocation.termination, allocation.has_point) == ("time_limit", False)


@forks
@pytest.mark.parametrize("place", ["computes", "applies", "missing"])
def test_a_question_to_a_method_of_ones_own_that_hangs_is_ended(place):
    hangs = type("Hangs", (Double,), {place: lambda *_: hang(None)})
    allocation = solve(WANG, "drfh", hangs(hang), time_limit=0.2)
    assert (allocation.termination, allocation.has_point, allocation.method) == ("time_limit", False, hangs.id)


@forks
def test_a_mechanism_that_hangs_where_it_is_configured_is_ended(tmp_path, capsys):
    text = "import fairalloc as fa\nimport time\nclass Hangs(fa.Mechanism):\n    id = 'hangs'\n"
    (tmp_path / "own.py").write_text(f"{text}    def configure(self, **given):\n        time.sleep(3600)\n")
    kind = load_object(f"{tmp_path}/own.py", MECHANISM)
    with pytest.raises(FairallocError, match=r"^configure of 'hangs' did not end within the time limit"):
        solve(WANG, kind, time_limit=0.2)
    assert main(["solve", "wang-fig2", "-m", f"{tmp_path}/own.py", "--time-limit", "0.2"]) == 2
    assert "configure of 'hangs' did not end" in capsys.readouterr().err


ASKED = {
    "home": [(check_mechanism, "not decided: the time was not enough")],
    "parameters": [(solve, "it did not end by itself at the time limit")],
    "configure": [
        (check_mechanism, "not decided: the time was not enough"),
        (solution_set, "the answers of hangs were not listed within the time limit"),
        (solve_many, "configure of 'hangs' did not end within the time limit"),
    ],
}


@forks
@pytest.mark.parametrize(("place", "ask", "late"), [(place, *one) for place, asked in ASKED.items() for one in asked])
def test_whoever_asks_a_mechanism_keeps_the_limit(place, ask, late):
    """They asked for its home, its parameters, or what it is configured to, before the clock was looked at."""
    slow = property(hang) if place == "parameters" else lambda *_, **__: hang(None)
    kind = type("Hangs", (Mechanism,), {"id": "hangs", "write_cvxpy": write_most, place: slow})
    try:
        said = ask([WANG] if ask is solve_many else WANG, kind, *["pareto"] * (ask is check_mechanism), time_limit=0.2)
    except FairallocError as error:
        said = error
    assert late in str(said)


def test_a_mechanism_of_ours_that_is_configured_beyond_the_limit_has_an_answer(monkeypatch):
    monkeypatch.setattr(Mechanism, "check_groups", lambda *_: time.sleep(0.05))
    assert solve(WANG, "drfh", time_limit=0.01).termination == "time_limit"


def test_packages_are_imported_before_the_clock_starts(monkeypatch):
    events, place = [], sys.modules["fairalloc.solvers.solve"]
    monkeypatch.setattr(place, "now", lambda: events.append("clock") or time.perf_counter())
    monkeypatch.setattr(time_limits, "import_all", lambda names: events.append(tuple(names)))
    assert solve(WANG, "nb", "cvxpy:clarabel", time_limit=60.0).residual <= RESIDUAL
    assert events[2:4] == [("cvxpy", "clarabel"), "clock"]
    events.clear()
    solve(WANG, "drfh", "pyomo:highs", time_limit=60.0)
    assert events[2:4] == [("pyomo.environ", "highspy"), "clock"]
    events.clear()
    solve(WANG, "nb")
    assert set(events) == {"clock"}


@forks
def test_an_edit_that_hangs_is_ended():
    allocation = solve(WANG, DRFH.edited("hangs", cvxpy=lambda *_: hang(None)), time_limit=0.2)
    assert (allocation.termination, allocation.has_point) == ("time_limit", False)


def test_after_a_proof_that_there_is_no_allocation_nothing_else_is_tried(monkeypatch):
    asked, run = [], Method.run
    monkeypatch.setattr(Method, "run", lambda self, *given: asked.append(self.id) or run(self, *given))
    edit = {"cvxpy": lambda p, _: cp.Problem(p.objective, [*p.constraints, p.var_dict["x"][0] >= 1000]), "pyomo": _too_much}
    torn = solve(WANG, DRFH.edited("torn", **edit))
    assert (torn.termination, torn.has_point) == ("infeasible", False)
    assert "this constraint contradicts the model: " in torn.message
    assert asked == ["cvxpy:clarabel"]


def _too_much(model, _):
    model.much = pyo.Constraint(expr=next(iter(model.x.values())) >= 1000)


@forks
def test_a_point_that_was_offered_survives_the_end_by_force():
    def offers(session):
        session.offer(2 * equal_partition(session.instance))
        deaf(session)

    allocation, _ = within(1000.0, Double(offers))
    assert allocation.has_point
    assert allocation.termination == "time_limit"
    assert allocation.residuals["feasibility"] <= RESIDUAL
    assert "no time left to judge it" in allocation.not_judged


@pytest.mark.parametrize("limit", [None, 60])
def test_a_limit_of_iterations_is_none_of_time(limit):
    """CVXPY has one word for both: with 60 seconds left it was the time."""
    answer = solve(generators.generic(8, 4, 3, 1), "nb", "cvxpy:clarabel", time_limit=limit, options={"max_iter": 3})
    assert answer.termination == "iteration_limit"


def test_a_last_point_that_is_infeasible_is_scaled_down_and_said_to_be():
    def stops(session):
        session.x = 7.0 * equal_partition(session.instance)
        raise Stopped("iteration_limit")

    allocation = best_attempt(Request(DRFH, WANG, Limits()), [Double(stops)])
    assert allocation.residuals["feasibility"] <= RESIDUAL
    assert allocation.message == "its last point was infeasible and is scaled down"


def test_an_answer_that_is_not_claimed_fits(monkeypatch):
    """SCS 3.3 calls tasks an answer that are 3,600 times too many: no prices prove them, but they are what is returned."""

    def many(_, __, instance, ___):
        return Answer(3600.0 * instance.arcs.gamma, None, "optimal", Times())

    monkeypatch.setattr(type(METHODS["cvxpy:scs"]), "run", many)
    allocation = solve(generators.badly_scaled(4, 2, 2, 0), "alpha-fair", "cvxpy:scs", alpha=100.0)
    assert (allocation.termination, allocation.residuals["feasibility"] <= RESIDUAL) == ("inaccurate", True)
    assert allocation.message.endswith("; its last point was infeasible and is scaled down")


@pytest.mark.parametrize("name", ["nb", "drfh", "fds"])
@pytest.mark.parametrize("termination", ["optimal", "inaccurate"])
def test_nobody_claims_tasks_that_do_not_fit(name, termination):
    """Their prices prove them better than the best, which is no wonder."""
    item, answer = mechanism(name).configure(), solve(WANG, name, "interior-point", accuracy="high")
    fits, exceeds = (
        judged(item, replace(answer, x=factor * answer.x, termination=termination, message=""), Limits())
        for factor in (1.0, 1.0 + 5e-6)
    )
    assert fits.claims_success
    assert not exceeds.claims_success
    assert exceeds.residuals["feasibility"] == pytest.approx(5e-6)
    assert exceeds.message == "its answer is infeasible by 5.0e-06"


def test_a_solver_that_finds_no_point_where_there_is_one_is_inaccurate():
    """Drfh has an allocation on every instance; of an edit only its solver can say."""

    def gives_up(session):
        session.x = equal_partition(session.instance)
        raise Stopped("infeasible")

    edited = DRFH.edited("same", cvxpy=lambda problem, _: problem)
    answers = [best_attempt(Request(item, WANG, Limits()), [Double(gives_up)]) for item in (DRFH, edited)]
    assert [answer.termination for answer in answers] == ["inaccurate", "infeasible"]
    assert [answer.message for answer in answers] == [UNFOUNDED, ""]


def test_after_a_method_ran_out_of_time_those_with_a_point_at_any_time_come_next(monkeypatch):
    monkeypatch.setattr(time_limits, "AVAILABLE", False)
    tried = []

    def late(session):
        tried.append("late")
        raise Stopped("time_limit")

    def quick(session):
        tried.append("quick")
        return right(session)

    anytime = Double(quick, "test:quick")
    anytime.anytime = True
    best_attempt(Request(DRFH, BIG, Limits(deadline=1e6, clock=Clock(0.0))), [Double(late), Double(late), anytime])
    assert tried == ["late", "quick"]


def test_filling_is_asked_under_a_tight_limit_too(monkeypatch):
    """It takes milliseconds; 6,000 pairs of users and servers had no point after 2 s, as other methods were preferred."""
    monkeypatch.setattr(dispatch, "LARGE", 1)
    monkeypatch.setattr(dispatch, "TIGHT", 1e6)
    assert solve(WANG, "drf-per-server", time_limit=60).method == "progressive-filling"
    item = mechanism("drf-per-server")
    assert item.domain(WANG) is item.domain(WANG), "nine times in a call, each as long as the filling"


@pytest.mark.parametrize("method", ["hierarchical-filling", "task-by-task"])
def test_events_in_rationals_end_with_the_limit(monkeypatch, method):
    """Those of 460 users took 146 s under a limit of 4 s, also where they only judge another method's answer."""
    monkeypatch.setattr(_Filling, "step", lambda _: True)
    answer = solve(WANG, "h-drf", method, time_limit=0.2)
    assert answer.termination == ("time_limit" if method == "hierarchical-filling" else "approximate")
    assert answer.not_judged
    with pytest.raises(FairallocError, match="cannot be explained by 'h-drf': the time was not enough"):
        explain(Allocation(pooled(WANG), [1, 1]), "h-drf", time_limit=0.2)


@forks
def test_the_residual_of_a_game_ends_with_the_limit(monkeypatch):
    """That of ps-dsf with variants took 3.5 s on 40 x 30 x 2, twice in a call, after a limit of 0.1 s."""
    monkeypatch.setattr(PsDsf, "residual", lambda *_: time.sleep(60))
    start, instance = time.monotonic(), generators.variants(20, 14, 2)
    assert solve(instance, "ps-dsf", "best-response", time_limit=0.5).not_judged
    assert time.monotonic() - start < 30


def test_a_certificate_waits_for_no_instance_that_is_made():
    """The pairs of 3,152 users and 159 servers took 17 s under a limit of 1 s."""
    slow = copy(mechanism("drf-per-server"))
    slow.home = lambda instance: any(iter(int, 1))
    assert certify(Allocation(WANG, np.zeros(4)), slow, time_limit=0.2).reason == "the time was not enough"
    with pytest.raises(FairallocError, match="the time was not enough"):
        explain(Allocation(WANG, np.zeros(4)), slow, time_limit=0.2)


def test_solvers_of_the_user_are_looked_for_only_where_they_are_needed(monkeypatch):
    """That imports CVXPY and Pyomo, which takes longer than h-drf, whose method is the only one."""
    monkeypatch.setattr("fairalloc.solvers.catalogue.installed._of_cvxpy", lambda: pytest.fail("looked for"))
    assert solve(WANG, "h-drf", time_limit=60).termination == "optimal"
    tried = []

    def late(session):
        tried.append("late")
        raise Stopped("error")

    other = Double(lambda session: (tried.append("other"), right(session))[1])
    best_attempt(Request(DRFH, WANG, Limits(deadline=64.0, clock=Clock(0.0)), isolate=False), [Double(late)], later=[other])
    assert tried == ["late", "other"]


def test_methods_that_are_not_asked_are_not_looked_for(monkeypatch):
    """Under a tight limit: what CVXPY has is known when it is imported, which takes longer than an answer."""
    monkeypatch.setattr(time_limits, "AVAILABLE", False)
    monkeypatch.setattr("fairalloc.solvers.backends.cvxpy_nlp.NlpMethod.missing", lambda _: pytest.fail("looked for"))
    nested = generators.generic(60, 60, 3).replace(groups={"a": [*range(30)], "b": [*range(30, 60)]})
    request = Request(DRFH, nested, Limits(deadline=1.0, clock=Clock(0.0)))
    assert dispatch._is_tight(request)
    item = mechanism("nested-nb")
    found = best_attempt(replace(request, mechanism=item), candidates(item, nested, available=False))
    assert found.method == "interior-point"


def test_a_limit_is_tight_by_what_tasks_take():
    """The own time of each user is a resource, of which there are as many as users."""
    jobs = with_own_time(Instance([[1]] * 200, [[20]] * 10))
    assert not dispatch._is_tight(Request(DRFH, jobs, Limits(deadline=1.0, clock=Clock(0.0))))
    assert dispatch._is_tight(Request(DRFH, jobs, Limits(deadline=0.1, clock=Clock(0.0))))


@forks
def test_checks_and_certificates_obey_limits(monkeypatch):
    answer = solve(WANG, "drfh")
    verdict = check(answer, lambda allocation: hang(None), time_limit=0.2)
    assert (verdict.holds, verdict.sentence) == (None, "not decided: the time was not enough")
    assert check(answer, "pareto", time_limit=600).holds
    monkeypatch.setattr(construct, "_made", lambda *_: hang(None))
    failure = certified_answer(WANG, "drfh", time_limit=0.2)
    assert (bool(failure), failure.reason) == (False, "the time was not enough")
    for call in (lambda: check(answer, "pareto", time_limit=0), lambda: certify(answer, time_limit=True)):
        with pytest.raises(InstanceError, match=r"time_limit is .*, but it must be a positive number or None"):
            call()


def test_what_is_known_of_a_conflict_is_told_step_by_step():
    import cvxpy as cp

    def edit(problem, instance):
        x = problem.var_dict["x"]
        return cp.Problem(problem.objective, [*problem.constraints, x[0] <= 3, x[0] >= 4, x[1] <= 5])

    item = mechanism("utilitarian").edited("torn", cvxpy=edit)
    terminations, sentences = zip(*conflict(item, WANG), strict=True)
    assert {*terminations} == {"infeasible"}
    assert sentences[0].endswith("there was no time to find out which")
    assert sentences[-1].endswith("; without any one of them the model has a solution")
    assert "x[1] <= 5" in sentences[0]
    assert "x[1] <= 5" not in sentences[-1]


@pytest.mark.parametrize("layer", ["cvxpy", "pyomo"])
def test_what_has_an_allocation_is_not_infeasible_whatever_a_solver_says(layer):
    """Ipopt called a later round infeasible, and "no allocation satisfies the edit" was the answer."""
    import cvxpy as cp

    given = {"cvxpy": lambda p, _: cp.Problem(p.objective, [*p.constraints, p.var_dict["x"][0] <= 3]), "pyomo": lambda m, _: None}
    ((termination, sentence),) = conflict(mechanism("drfh").edited("mine", **{layer: given[layer]}), WANG)
    assert (termination, "but there are allocations that satisfy the edit 'mine'" in sentence) == ("error", True)


@pytest.mark.parametrize("failing", [1, 2, 4])
def test_a_solver_that_fails_is_no_solution_of_a_conflict(monkeypatch, failing):
    """What it could not solve was told to have a solution."""
    import cvxpy as cp

    def edit(problem, instance):
        x = problem.var_dict["x"]
        return cp.Problem(problem.objective, [*problem.constraints, x[0] >= 1000, x[1] <= 5, x[2] <= 5])

    calls, compiled = [], cp.Problem.get_problem_data

    def fails(problem, *solver, **options):
        calls.append(1)
        if len(calls) == failing:
            raise cp.SolverError("it failed")
        return compiled(problem, *solver, **options)

    monkeypatch.setattr(cp.Problem, "get_problem_data", fails)
    _, said = list(conflict(mechanism("utilitarian").edited("torn", cvxpy=edit), WANG))[-1]
    assert (": its solver could not tell which" in said) == (failing > 1)
    assert "has a solution" not in said


EXTREME = [pytest.param(weights, marks=pytest.mark.deep) for weights in ([1e-300, 1], [1e300, 1])]


@pytest.mark.few(3)
@pytest.mark.parametrize("weights", [[1e9, 1], [1e12, 1], [1e15, 1], [1, 1e-12], *EXTREME])
@pytest.mark.parametrize("name", ["drfh", "lmmf", "ps-dsf", "uniform", "nb"])
def test_weights_far_apart_are_solved_or_not_claimed_and_nobody_disagrees(name, weights):
    instance = Instance(WANG.demands, WANG.capacities, weights=weights)
    allocation = solve(instance, name)
    verdict, proof = check(allocation, name), certify(allocation, name)
    assert allocation.claims_success
    assert verdict.holds
    assert proof or "no exact levels" in proof.reason


def test_a_certificate_of_nb_counts_a_user_whose_weight_is_tiny():
    instance = Instance([[1, 0], [0, 1]], [[1, 1]], weights=[1e12, 1])
    wrong = Allocation(instance, [1.0, 1e-11])
    assert not check(wrong, "nb").holds
    assert "the residual of the allocation is" in certify(wrong, "nb").reason


def test_casadi_prints_no_warning(capsys):
    from fairalloc.solvers.backends.pyomo import CasadiProgram

    model = pyo.ConcreteModel()
    model.x = pyo.Var(initialize=1.0)
    model.goal = pyo.Objective(expr=model.x**2)
    model.rows = pyo.Constraint([1, 2, 3], rule=lambda m, k: k * m.x == k)
    program = CasadiProgram(model, {"print_level": 0, "sb": "yes"})
    assert program.solve() == ("error", {}), "it has more equations than variables"
    assert capsys.readouterr() == ("", "")


@pytest.mark.skipif(not time_limits.AVAILABLE, reason="no child processes here")
def test_what_is_asked_to_end_writes_nothing(capfd):
    """CasADi writes a warning where the signal comes while it evaluates a model."""

    def work(send):
        send("begun")
        try:
            time.sleep(60)
        except KeyboardInterrupt:
            os.write(2, b"WARNING")

    outcome = time_limits.isolated(work, time.perf_counter() + 0.2, time.perf_counter)
    assert (outcome.messages, outcome.ending, capfd.readouterr().err) == (["begun"], "time", "")


# ---- judging costs no more than solving ---------------------------------------------------------------------------------


def test_the_reference_is_for_small_instances_or_on_request():
    bare = replace(solve(WANG, "drfh"), prices=None, round_prices=None)
    assert judged(DRFH, bare).residual <= RESIDUAL
    few = Limits(judging=Judging(reference_arcs=len(WANG.arcs) - 1))
    unknown = judged(DRFH, bare, few)
    assert unknown.residuals["definition"] == np.inf
    assert "an independent reference is for" in unknown.not_judged
    assert judged(DRFH, bare, few, reference=True).residual <= RESIDUAL
    assert not judged(DRFH, solve(WANG, "drfh"), few).not_judged, "its own prices prove it"


@pytest.mark.parametrize("name", ["drfh", "nb"])
def test_what_could_not_be_judged_in_time_says_so(name):
    item = mechanism(name)
    bare = replace(solve(WANG, name), prices=None, round_prices=None)
    known = proved(item, bare, Limits(deadline=5.0, clock=Clock(10.0)))
    assert known.residual == np.inf
    assert known.not_judged == (
        "not judged: the allocation has no prices that prove it, and there was no time left for an independent reference"
    )


def test_the_reference_obeys_the_limit_between_rounds():
    fig1 = example("khamse-fig1").instance
    assert reference_allocation(DRFH, fig1, Limits()) is not None
    assert reference_allocation(DRFH, fig1, Limits(deadline=1.5, clock=Clock(1.0))) is None


# ---- Ctrl-C -------------------------------------------------------------------------------------------------------------


def interrupt(session):
    raise KeyboardInterrupt


def interrupt_with_a_point(session):
    session.x = right(session)[0]
    raise KeyboardInterrupt


@pytest.mark.parametrize("limit", [np.inf, 1e6])
@pytest.mark.parametrize("instance", [WANG, BIG], ids=["small", "large"])
def test_ctrl_c_keeps_the_best_point(instance, limit):
    limits = Limits(deadline=limit, clock=Clock(0.0))
    allocation = best_attempt(Request(DRFH, instance, limits), [Double(interrupt_with_a_point), Double(hang)])
    if limit < np.inf and instance is BIG and time_limits.AVAILABLE:
        assert allocation.has_point
        return
    assert allocation.termination == "interrupted"
    assert allocation.has_point


def test_ctrl_c_without_a_point_is_raised():
    with pytest.raises(KeyboardInterrupt):
        best_attempt(Request(DRFH, WANG, Limits()), [Double(interrupt), Double(right)])
    worse = Double(lambda session: (right(session)[0] * 0.5, None), "test:worse")
    allocation = best_attempt(Request(DRFH, WANG, Limits()), [worse, Double(interrupt)])
    assert (allocation.method, allocation.termination) == ("test:worse", "interrupted")


def test_who_refuses_leaves_the_word_to_others():
    """A refusal had ended the call, also where another method had an answer before."""

    class Ours(Double):
        __module__ = "fairalloc.solvers"

    def refuse(_):
        raise NotApplicable("not here")

    half, refusing = Double(lambda session: (0.5 * right(session)[0], None), "test:half"), Ours(refuse)
    for methods, termination in (([half, refusing], "inaccurate"), ([refusing, Double(right)], "optimal")):
        assert best_attempt(Request(DRFH, WANG, Limits()), methods).termination == termination
    with pytest.raises(NotApplicable, match=r"^not here$"):
        best_attempt(Request(DRFH, WANG, Limits()), [refusing, refusing])


@forks
def test_ctrl_c_ends_the_child():
    """The signal comes while the parent waits; the child is asked for its point."""

    def ready(session):
        session.x = right(session)[0]
        os.kill(os.getppid(), signal.SIGINT)
        hang(session)

    allocation, _ = within(1e6, Double(ready), step=0.0)
    assert allocation.termination == "interrupted"
    assert allocation.has_point
    with pytest.raises(KeyboardInterrupt):
        within(1e6, Double(lambda session: (os.kill(os.getppid(), signal.SIGINT), hang(session))), step=0.0)


@forks
def test_under_a_tight_limit_methods_with_early_points_come_first():
    """Large instances only: what has a point at its end alone would take the time and leave none."""
    early = Double(hang_with_a_point, "test:early")
    early.anytime = True
    clock = Clock(0.01)
    slow = Double(hang, "test:slow")
    allocation = best_attempt(Request(DRFH, BIG, Limits(deadline=dispatch.TIGHT * LARGE / 2, clock=clock)), [slow, early])
    assert allocation.method == "test:early"
    assert allocation.has_point


@forks
def test_ctrl_c_ends_native_code_without_a_limit():
    """It cannot hear the signal itself: it is in a child, which is ended."""

    def begun(session):
        if session.limits.keep is not None:
            session.offer(right(session)[0])
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.kill(os.getppid(), signal.SIGINT)
        hang(session)

    allocation = best_attempt(Request(DRFH, BIG, Limits()), [Native(begun)])
    assert allocation.termination == "interrupted"
    assert allocation.has_point
    pids = []
    best_attempt(Request(DRFH, WANG, Limits()), [Native(lambda session: (pids.append(os.getpid()), right(session))[1])])
    assert pids == [os.getpid()], "small instances stay here"


# ---- threads and what is printed ----------------------------------------------------------------------------------------


def place(descriptor):
    """Which file it is."""
    return os.fstat(descriptor).st_dev, os.fstat(descriptor).st_ino


@contextlib.contextmanager
def descriptor_1_in_a_file():
    with tempfile.TemporaryFile() as file:
        sys.stdout.flush()
        copy = os.dup(1)
        os.dup2(file.fileno(), 1)
        try:
            yield file
        finally:
            os.dup2(copy, 1)
            os.close(copy)


@pytest.mark.few(1)
@pytest.mark.parametrize("method", ["highs", "cvxpy:clarabel", "pyomo:highs", None])
def test_threads_leave_descriptor_1_alone(method):
    """8 threads x 20 solves; another thread's lines all arrive, and nothing else does."""
    with descriptor_1_in_a_file() as file:
        own, stop, lines = place(1), threading.Event(), []

        def talk():
            while not stop.is_set():
                lines.append(b"line %d\n" % len(lines))
                os.write(1, lines[-1])
                time.sleep(1e-4)

        talker = threading.Thread(target=talk)
        talker.start()
        try:
            with ThreadPoolExecutor(8) as pool:
                found = list(pool.map(lambda _: solve(WANG, "drfh", method).residual, range(160)))
        finally:
            stop.set()
            talker.join()
        assert place(1) == own
        file.seek(0)
        assert file.read() == b"".join(lines)
    assert max(found) <= RESIDUAL


def test_captures_in_threads_end_where_they_began():
    from fairalloc.solvers.running.solver_log import captured

    def work(k):
        with captured() as lines:
            os.write(1, b"%d" % k)
        return lines

    with descriptor_1_in_a_file() as file:
        own = place(1)
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(work, range(160)))
        assert place(1) == own
        file.seek(0)
        assert file.read() == b""
    assert found == [[str(k)] for k in range(160)]


# ---- arguments ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("x", "drfh"), "the instance is 'x', but it must be an Instance"),
        ((WANG, 3), "mechanism is 3, but it must be an id or a Mechanism"),
        (
            (WANG, "drfh", ["highs"]),
            "there is no method ['highs']: it must be an id, a Method, or a function (instance, mechanism, limits) -> tasks",
        ),
        ((WANG, "drfh", None, None), "accuracy is None, but it must be one of low, mid, high, or a residual between 0 and 1"),
        (
            (WANG, "drfh", None, ["mid"]),
            "accuracy is ['mid'], but it must be one of low, mid, high, or a residual between 0 and 1",
        ),
        ((WANG, "drfh", None, "mid", True), "time_limit is True, but it must be a positive number or None"),
        (
            (WANG, "drfh", None, "mid", float("nan")),
            "time_limit is nan, but it must be a positive number or None",
        ),
        ((WANG, "drfh", None, "mid", "5"), "time_limit is '5', but it must be a positive number or None"),
        ((WANG, "drfh", None, "mid", 0), "time_limit is 0, but it must be a positive number or None"),
    ],
)
def test_bad_arguments_are_one_sentence(arguments, sentence):
    with pytest.raises(ValueError) as fault:  # noqa: PT011 (the sentence is compared)
        solve(*arguments)
    assert str(fault.value) == sentence


def test_an_endless_limit_is_no_limit():
    assert isinstance(solve(WANG, "drfh", time_limit=float("inf")), Allocation)
    assert solve(Instance([[1]], [[2]]), "drfh", time_limit=np.float64(60)).residual <= RESIDUAL


# ---- broken installations and what solvers refuse -----------------------------------------------------------------------


class Broken(types.ModuleType):
    """A package that is there and raises wherever it is used."""

    def __init__(self, name, error):
        super().__init__(name)
        self.error = error

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise self.error


@pytest.mark.parametrize("error", [ImportError("libhighs.so is missing"), AttributeError("no attribute 'Highs'")])
@pytest.mark.parametrize(
    ("package", "name", "method"),
    [("highspy", "drfh", "highs"), ("cvxpy", "nb", "cvxpy:clarabel"), ("pyomo", "nb", "pyomo:ipopt")],
)
def test_a_broken_package_makes_its_methods_alone_unavailable(package, name, method, error, monkeypatch):
    for key in [key for key in sys.modules if key.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, key)
    monkeypatch.setitem(sys.modules, package, Broken(package, error))
    broken = solve(WANG, name, method)
    assert broken.termination == "error"
    assert not broken.has_point
    assert broken.message
    assert solve(WANG, name).residual <= RESIDUAL


@pytest.mark.parametrize(("deadline", "termination"), [(10.0, "time_limit"), (np.inf, "error")])
def test_an_interrupted_ipopt_says_that_time_is_over(monkeypatch, deadline, termination):
    clock = Clock(step=0.0)

    def interrupted(program):
        """CasADi turns the signal at the deadline into an exception, and Ipopt into an unknown status."""
        clock.seconds, program.stats = 11.0, {"iter_count": 3}
        return "error", {}

    monkeypatch.setattr(CasadiProgram, "solve", interrupted)
    answer = METHODS["pyomo:ipopt"].run(mechanism("nb"), WANG, Limits(deadline=deadline, clock=clock))
    assert (answer.termination, answer.iterations) == (termination, 3)


def test_what_cannot_be_imported_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "highspy", None)
    assert solve(WANG, "drfh", "highs").message.startswith("highs is not available: its packages cannot be imported: ")


@pytest.mark.few(4)
@pytest.mark.parametrize("weights", [[1e15, 1], [1e9, 1], [1, 1e-12]])
@pytest.mark.parametrize("name", ["drfh", "nb", "utilitarian"])
def test_extreme_weights_raise_nothing(name, weights):
    allocation = solve(Instance([[1, 0], [0, 1]], [[1, 1]], weights=weights), name)
    assert allocation.has_point
    assert allocation.tasks.max() == pytest.approx(1, rel=RESIDUAL), "the other one weighs nothing in the residual of a sum"


def test_the_default_goes_on_after_an_error():
    def refuses(session):
        raise ValueError("ScsWork allocation error!")

    allocation = best_attempt(Request(DRFH, WANG, Limits()), [Double(refuses, "test:scs"), Double(right)])
    assert allocation.method == "test:double"
    assert allocation.residual <= RESIDUAL


# ---- judge and certificate ----------------------------------------------------------------------------------------------

FAR_APART = {
    "weights 1e9": Instance([[1, 2], [2, 1], [1, 1]], [[9, 18], [7, 3]], weights=[1e9, 1, 3]),
    "weights 1e12": Instance([[1, 2], [2, 1]], [[9, 18]], weights=[1e12, 1]),
    "weights and limits": Instance(
        [[1, 2], [2, 1], [1, 3]], [[9, 18], [1, 2]], weights=[1e9, 1, 1e-3], max_tasks=[None, "1e-7", None]
    ),
    "tiny tasks": Instance([["1e-9", "2e-9"], [2, 1]], [[9, 18]]),
    "tiny limits": Instance([[1, 2], [2, 1]], [[9, 18]], max_tasks=["1e-9", None]),
}


@pytest.mark.few(4)
@pytest.mark.parametrize("name", ["drfh", "lmmf", "tsf", "mmf", "utilitarian"])
@pytest.mark.parametrize("instance", FAR_APART.values(), ids=FAR_APART)
def test_judge_and_certificate_agree_where_floats_cannot_tell(instance, name):
    from fairalloc.analysis.certificates import certify
    from fairalloc.analysis.properties import check

    for method in (None, "exact"):
        allocation = solve(instance, name, method)
        assert allocation.residual <= RESIDUAL
        assert allocation.claims_success
        assert check(allocation, name).holds
        assert certify(allocation, name)


@pytest.mark.few(6)
@pytest.mark.parametrize("name", ["drfh", "lmmf", "tsf"])
@pytest.mark.parametrize("instance", FAR_APART.values(), ids=FAR_APART)
def test_what_is_wrong_is_still_denied(instance, name):
    from fairalloc.analysis.certificates import certify
    from fairalloc.analysis.properties import check

    right = solve(instance, name, "exact")
    n = int(np.argmin(right.tasks))
    wrong = Allocation(right.instance, np.where(right.instance.arcs.user == n, 0.99 * right.x, right.x), mechanism=name)
    verdict = check(wrong, name)
    assert verdict.holds is False
    assert verdict.margin >= 0.01 - RESIDUAL
    assert not certify(wrong, name)


def test_a_verdict_waits_for_the_reference_unless_the_point_is_infeasible():
    from fairalloc.analysis.properties import check

    never = {"reference_arcs": 0}
    assert check(Allocation(WANG, [10, 0, 0, 10]), "drfh", judge=never).holds is None
    assert check(Allocation(WANG, [10, 0, 0, 10]), "drfh", reference=True, judge=never).holds is True
    assert check(Allocation(WANG, [11, 0, 0, 10]), "drfh", judge=never).holds is False


def test_without_rationals_rounding_decides_nothing():
    from fairalloc.analysis.properties import check

    instance, never = FAR_APART["weights 1e12"], {"exact_arcs": 0}
    verdict = check(replace(solve(instance, "drfh", "exact"), x_exact=None), "drfh", judge=never)
    assert verdict.holds is None
    assert verdict.sentence.startswith("not decided: rounding explains a residual of ")
    assert check(Allocation(WANG, [5, 1, 1, 5]), "drfh", judge=never).holds is False, "nothing to explain"


# ---- finite values ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.5, 1, 3, 50, 1e3, 1e9])
def test_values_are_finite(alpha):
    """Where the sum of powers is not, the certainty equivalent stands for it: for alpha to infinity the least share."""
    instance = Instance([[1, 4], [3, 1]], [[9, 18]], weights=[1, 2])
    allocation = solve(instance, "fds", alpha=alpha)
    assert np.isfinite(list(allocation.values.values())).all()
    item = mechanism("fds").configure(alpha=alpha)
    least = (item.rate(allocation.instance) * allocation.tasks).min()
    if alpha >= 1e3:
        assert allocation.values["certainty_equivalent"] == pytest.approx(least, rel=0.01)
    idle = Allocation(allocation.instance, [0, 1], mechanism="fds")
    assert np.isfinite(list(item.values(idle).values())).all()
    assert mechanism("nb").values(idle) == {"certainty_equivalent": 0.0}


@pytest.mark.skipif(not time_limits.AVAILABLE, reason="nothing is isolated here")
def test_a_request_to_end_while_a_child_ends_does_not_leave_it(monkeypatch):
    """It would run on with the caller's code."""
    caller, below = os.getpid(), time_limits.processes_below

    def interrupted(pid):
        if os.getpid() != caller:
            raise KeyboardInterrupt
        return below(pid)

    monkeypatch.setattr(time_limits, "processes_below", interrupted)
    outcome = time_limits.isolated(lambda send: send("all"), np.inf, time.perf_counter)
    assert (outcome.messages, outcome.code) == (["all"], 0)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the system does not tell children")
def test_a_child_that_ends_while_it_is_looked_at_hides_no_other(monkeypatch):
    below, listed = {"1": [2, 3], "2": None, "3": [4], "4": []}, os.listdir

    def threads(path):
        process = str(path).split("/")[2]
        if process not in below:
            return listed(path)
        if below[process] is None:
            raise FileNotFoundError(path)
        return [process]

    def read(self, *_, **__):
        return " ".join(map(str, below[self.parts[2]]))

    monkeypatch.setattr(os, "listdir", threads)
    monkeypatch.setattr(Path, "read_text", read)
    assert list(time_limits.processes_below(1)) == [2, 3, 4]
    assert list(time_limits.processes_below(2)) == []


def busy(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def test_an_alarm_rings_in_time_and_not_before():
    with pytest.raises(KeyboardInterrupt), time_limits.alarm(0.01) as rung:
        busy(30)
    assert rung == [True]
    with time_limits.alarm(30.0) as rung:
        pass
    assert rung == [False]
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL


def test_a_call_that_was_ended_says_what_was_asked():
    """It had lost its parameters."""
    large = generators.generic(100, 60, 2, 1)
    found = solve(large, "alpha-fair", time_limit=1e-9, alpha=3)
    assert found.parameters == {"alpha": 3.0, "share": "tasks"}


@pytest.mark.parametrize("name", ["uniform", "drf-per-server"])
def test_an_answer_given_on_another_instance_than_its_model_can_be_started_from(name):
    """It was refused for having other servers than the model."""
    small = Instance([[1, 2], [2, 1]], [[2, 12], [12, 2]])
    found = solve(small, name)
    again = solve(small, name, "pyomo:ipopt", warm_start=found)
    assert again.termination == "optimal"
    assert again.tasks == pytest.approx(found.tasks)


@pytest.mark.skipif(not time_limits.AVAILABLE, reason="Python cannot fork safely here")
def test_the_pairs_of_a_large_instance_are_made_within_the_limit():
    instance = BIG.replace(name="pairs")
    solve(instance, "drf-per-server", time_limit=0.3)
    assert "pairs of users and servers" not in instance.memo, "before the child the clock does not run"
