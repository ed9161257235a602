"""Run a suite.

1. describe every case in a child process: its instance's fingerprint, and the methods that compute its mechanism there
2. list the solves: every case, with each of these methods, at every accuracy, as often as repeats are asked for
3. leave out those that are on record
4. solve each of the others in a process of its own, `jobs` at a time, and write its row as soon as it is answered; a method that
   ran out of time or memory on a case gets a row that says so for the larger cases that come after it
"""

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path
from typing import Annotated, Any

from fairalloc.benchmarks.records import SKIPPED, UNDEFINED, BenchmarkStore, Job, Record, fitting
from fairalloc.benchmarks.suites.suite import BenchmarkError, Repeats, Suite, find_suite, repeated
from fairalloc.formulations import mechanism
from fairalloc.models.arguments import Duration, Processes, Rule, check_fields
from fairalloc.models.errors import NotApplicable, NotInstalled, UnknownName, no_such
from fairalloc.runs import machine
from fairalloc.runs.cluster import RemotePool
from fairalloc.runs.fingerprint import code_of
from fairalloc.runs.objects import is_in_file, packed, place_of
from fairalloc.runs.processes import Document, NoAnswer, Pool, Task, isolation_missing
from fairalloc.runs.progress import Progress
from fairalloc.solvers import METHODS
from fairalloc.solvers.catalogue.installed import other_method
from fairalloc.solvers.catalogue.method_registry import method_of
from fairalloc.solvers.method import Method
from fairalloc.solvers.options import Accuracy, promised, read_accuracy

WORKER = "fairalloc.benchmarks.worker"
"""Describes and solves cases."""

BUILD_SECONDS = 600.0
"""How long it may take to build an instance and to ask the methods whether they compute its mechanism."""

CLOCKS = 0.05, {"wall": 0.05, "cpu": 0.1}
"""The clock in a child may show less than the one outside by this part of it, by the processor seconds that a clean process takes
to read the instance and to judge by the answer's own prices, and by these seconds; processors are counted in ticks."""


@dataclass(frozen=True)
class Setting:
    """How every solve of a run is done.

    Attributes
    ----------
    accuracies : that every method is asked for, words or residuals; () = those of the suite
    time_limit : seconds for one solve, whose process is ended a little later; None = that of the suite
    memory_mb : how far the address space of one solve may grow
    repeats : solves of each case by each method at each accuracy; None = those of the suite
    jobs : solves at the same time, each on a core of its own
    threads : that linear algebra and solvers may use in one solve
    scheduler : "tcp://HOST:PORT" of a cluster of dask, whose workers solve instead of this machine; "" = none
    """

    accuracies: Sequence[Accuracy] = ()
    time_limit: Duration | None = None
    memory_mb: Annotated[int, Rule(lambda value: 1 <= value <= 10**9, "a whole number from 1 to 1,000,000,000")] = 4096
    repeats: Repeats | None = None
    jobs: Processes = 1
    threads: Processes = 1
    scheduler: str = ""

    def __post_init__(self) -> None:
        check_fields(self)
        for accuracy in self.accuracies:
            promised(accuracy)
        object.__setattr__(self, "accuracies", tuple({str(accuracy): accuracy for accuracy in self.accuracies}.values()))


@dataclass(frozen=True)
class Described:
    """A case: its instance's fingerprint, the methods that compute it, why others do not or none can, printed numbers."""

    fingerprint: str
    methods: tuple[str, ...]
    undefined: str = ""
    cause: str = "undefined"
    printed: tuple[float, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """What is asked of whom, with limits and repeats of the suite where nobody says otherwise.

    `place` and `packed` are how another process finds the suite, and the methods that are not registered; `everything` = no
    methods were named; `undeclared` do not say what they compute, in a suite of several mechanisms: they are not asked.
    """

    name: str
    suite: Suite
    methods: Mapping[str, Method]
    setting: Setting
    place: Any
    packed: Mapping[str, Any]
    everything: bool
    undeclared: frozenset[str]


def measure(
    asked: str | Suite,
    records: str | Path,
    methods: Sequence[Any],
    cases: Sequence[str],
    setting: Setting,
    progress: Progress,
) -> tuple[int, int]:
    """Solve what is not on record yet, as `fairalloc.benchmarks.run` says; how many rows were there, and how many were added."""
    if missing := isolation_missing():
        raise NotInstalled(f"benchmarks solve each case in a process of its own: {missing}")
    if setting.scheduler and setting.jobs != 1:
        raise BenchmarkError(f"jobs is {setting.jobs}, but with a scheduler its workers say how many solves run at a time")
    plan = _plan(asked, methods, cases, setting)
    pool = RemotePool(setting.scheduler, WORKER) if setting.scheduler else Pool(WORKER, setting.jobs, pinned=setting.jobs > 1)
    with pool, BenchmarkStore(records) as store:
        plan, details = _placed(plan, pool)
        described = _described(pool, plan, progress)
        jobs = list(_jobs(plan, described, machine.machine_id(details)))
        named = {"methods": [place_of(item) or method_of(item).id for item in methods], "cases": list(cases)}
        named |= {"accuracies": list(map(str, setting.accuracies))}
        about = _details(plan, described, details) | {"idle": _idle(plan, described), "asked": named}
        store.add_run(_now(), plan.name, about, [job.key for job in jobs])
        done = store.keys()
        left = [job for job in jobs if job.key not in done]
        wanted = {job.key for job in jobs}  # the file may hold rows of other cases with these names
        ladder = _Ladder(plan.suite, [record for record in store.records() if record.key in wanted])

        def keep(job: Job, outcome: Document) -> None:
            found = _record(job, outcome)
            ladder.note(found)
            store.add(found)
            progress.step(f"{job.method} {job.case}")

        for job in left:
            if job.method == UNDEFINED:  # a row that says why the case has no solves
                store.add(_record(job, {"termination": described[job.case].cause, "message": described[job.case].undefined}))
        by_key = {job.key: job for job in left if job.method != UNDEFINED}
        progress.begin(len(by_key))
        for task, answer in pool.answers(_task(plan, job) for job in _climbed(by_key.values(), ladder, keep)):
            keep(by_key[task.label], _outcome(by_key[task.label], answer))
    return len(jobs) - len(left), len(left)


class _Ladder:
    """Where methods ran out of time or memory, so that they are not asked on what is larger."""

    def __init__(self, suite: Suite, known: Iterable[Record]) -> None:
        self._after = {case.name: case.after for case in suite.cases}
        self._looser = {case.name: {str(a): promised(a) for a in case.accuracies} for case in suite.cases if case.accuracies}
        self._over: dict[tuple[str, str, str], str] = {}
        for record in known:
            self.note(record)

    def note(self, record: Record) -> None:
        """Remember what ran out of time or memory."""
        if record.termination in ("time_limit", "memory"):
            self._over[record.case, record.method, record.accuracy] = record.case
        elif record.termination == SKIPPED:
            self._over[record.case, record.method, record.accuracy] = self.stopped_at(record) or record.case

    def stopped_at(self, job: Job) -> str:
        """The smaller case on which the method of a job ran out of time or memory, this case at a looser accuracy, or ""."""
        for accuracy, asked in self._looser.get(job.case, {}).items():
            if asked > promised(read_accuracy(job.accuracy)) and (job.case, job.method, accuracy) in self._over:
                return f"{job.case} at the accuracy {accuracy}"
        return self._over.get((self._after[job.case], job.method, job.accuracy), "")


def _climbed(jobs: Iterable[Job], ladder: _Ladder, keep: Callable[[Job, Document], None]) -> Iterator[Job]:
    """The jobs that are worth solving; the others get their rows."""
    for job in jobs:
        if smaller := ladder.stopped_at(job):
            message = f"not asked: it ran out of time or memory on the easier case {smaller}"
            keep(job, {"termination": SKIPPED, "message": message})
        else:
            yield job


def _plan(asked: str | Suite, wanted: Sequence[Any], cases: Sequence[str], setting: Setting) -> Plan:
    suite = selected(find_suite(asked), cases)
    if lacks := suite.lacks():
        raise NotInstalled(f"the suite {suite.id!r} cannot run: {lacks}")
    if setting.accuracies:
        suite = replace(suite, cases=[replace(case, accuracies=()) for case in suite.cases])
    name = asked if isinstance(asked, str) and not is_in_file(asked) else suite.id
    methods = {method.id: method for method in _chosen(wanted or suite.methods)}
    own = {key: method for key, method in methods.items() if METHODS.get(key) is not method and other_method(key) is None}
    travelling = {key: packed(method) for key, method in own.items()}
    limits = {part: getattr(setting, part) or getattr(suite, part) for part in ("accuracies", "time_limit", "repeats")}
    setting, everything = replace(setting, **limits), not (wanted or suite.methods)
    several = len({mechanism(case.mechanism).id for case in suite.cases}) > 1
    undeclared = frozenset(key for key, method in methods.items() if several and method.undeclared)
    return Plan(name, suite, methods, setting, _place(asked), travelling, everything, undeclared)


def selected(suite: Suite, wanted: Sequence[str]) -> Suite:
    """The suite with the cases that fit these names; a case whose smaller one is left out comes by itself."""
    every, chosen = [case.name for case in suite.cases], set[str]()
    for name in wanted:
        found = [name] if name in every else [one for one in every if fnmatchcase(one, name)]  # one in full may hold [ itself
        if not found:
            raise UnknownName(no_such("case", name, every, f"the suite {suite.id!r} has others"))
        chosen.update(found)
    kept = [case for case in suite.cases if not wanted or case.name in chosen]
    names = {case.name for case in kept}
    return replace(suite, cases=tuple(case if case.after in names else replace(case, after="") for case in kept))


def _place(asked: str | Suite) -> Any:
    """The suite as it is sent to another process, whatever its folder: a text, or itself packed."""
    if isinstance(asked, str) and is_in_file(asked):
        file, colon, name = asked.rpartition(":") if not asked.endswith(".py") else (asked, "", "")
        return f"{Path(file).resolve()}{colon}{name}"
    return packed(asked)


def _chosen(wanted: Sequence[Any]) -> list[Method]:
    """The methods that were asked for, by id or themselves, which must be there, or all that are there but approximations."""
    once = {item if isinstance(item, str) else place_of(item) or id(item): item for item in wanted}
    asked = [method_of(item) for item in once.values()]
    if twice := repeated(method.id for method in asked):
        raise BenchmarkError(f"two methods have the id {twice!r}, but ids must be distinct")
    for method in asked:
        if missing := method.missing():
            raise NotInstalled(f"the method {method.id!r} is not available: {missing}")
    return asked or [method for method in METHODS.values() if method.kind != "approximate" and not method.missing()]


def _jobs(plan: Plan, described: Mapping[str, Described], here: str) -> Iterator[Job]:
    """All solves; every case and method once before any is repeated, so that a slow minute of the machine meets all methods."""
    setting = plan.setting
    limits: dict[str, Any] = {name: getattr(setting, name) for name in ("time_limit", "memory_mb", "jobs", "threads")}
    limits |= {"machine": here}
    solved = [case for case in plan.suite.cases if described[case.name].methods]
    items = {case.name: mechanism(case.mechanism, **case.parameters) for case in solved}
    codes = {(name, key): code_of(plan.methods[key], item) for name, item in items.items() for key in described[name].methods}
    codes = {key: code + " traced" * plan.suite.trace for key, code in codes.items()}
    for repeat, case in product(range(setting.repeats or 1), plan.suite.cases):
        found = described[case.name]
        where: dict[str, Any] = {"suite": plan.name, "case": case.name, "fingerprint": found.fingerprint, "mechanism": case.label}
        if found.undefined and repeat == 0:
            yield Job(**where, method=UNDEFINED, accuracy="", repeat=0, code="", **limits)
        for method, accuracy in product(found.methods, case.accuracies or plan.setting.accuracies):
            yield Job(**where, method=method, accuracy=str(accuracy), repeat=repeat, code=codes[case.name, method], **limits)


def _idle(plan: Plan, described: Mapping[str, Described]) -> list[str]:
    """A sentence for each named method that is asked nothing, and on mechanisms that none fits; NotApplicable where none does."""
    useful = {key for found in described.values() for key in found.methods}
    told = []
    for key, method in plan.methods.items():
        reasons = [found.reasons[key] for found in described.values() if key in found.reasons]
        if key not in useful:
            first = method.undeclared if key in plan.undeclared else [*reasons, "it computes none of the mechanisms there"][0]
            told.append(f"{key} fits no case of the suite {plan.name!r}: {first}")
    if not useful and not all(found.undefined for found in described.values()):
        raise NotApplicable("; ".join(told))
    fit = {case.label for case in plan.suite.cases if described[case.name].methods}
    left = dict.fromkeys(case.label for case in plan.suite.cases if not (case.label in fit or described[case.name].undefined))
    told += [f"no case of {', '.join(left)} fits {', '.join(plan.methods)}"] if left else []
    return [] if plan.everything else told


def _details(plan: Plan, described: Mapping[str, Described], here: Mapping[str, Any]) -> dict[str, Any]:
    """What the report says of a run besides its rows; it never looks for the suite itself, which is code."""
    known = {**plan.methods, **(METHODS if plan.everything else {})}.values()
    setting = asdict(plan.setting) | {"accuracies": [str(accuracy) for accuracy in plan.setting.accuracies]}
    cases = {c.name: {"family": c.family, "words": c.words, "printed": described[c.name].printed} for c in plan.suite.cases}
    place, load = plan.place if isinstance(plan.place, str) else "", None if plan.setting.scheduler else os.getloadavg()[0]
    about = {"machine": dict(here), "setting": setting, "title": plan.suite.title, "place": place, "cases": cases, "load": load}
    about["words"] = plan.suite.words
    return about | machine.describe_run(known)


def _placed(plan: Plan, pool: Pool | RemotePool) -> tuple[Plan, dict[str, Any]]:
    """The plan with the number of solves at the same time on one machine, and the description of the machines."""
    if isinstance(pool, Pool):
        return plan, machine.describe_machine()
    machines = list(pool.told(machine.describe_machine).values())
    jobs = max(Counter(found["node"] for found in machines).values())
    return replace(plan, setting=replace(plan.setting, jobs=jobs)), machine.joined(machines)


def _described(pool: Pool | RemotePool, plan: Plan, progress: Progress) -> dict[str, Described]:
    """Step 1."""
    described = {}
    progress.say(f"building {(count := len(plan.suite.cases))} instance{'s' * (count != 1)}")
    methods = {key: plan.packed.get(key, key) for key in plan.methods if key not in plan.undeclared}
    asked = {c.name: {k: given for k, given in methods.items() if not c.methods or k in c.methods} for c in plan.suite.cases}
    requests = ({"suite": plan.place, "case": name, "methods": found} for name, found in asked.items())
    for task, answer in pool.answers(Task(request, BUILD_SECONDS, plan.setting.memory_mb) for request in requests):
        if isinstance(answer, NoAnswer):
            told = Described("", (), f"the instance cannot be built: {answer.sentence}", answer.cause)
        else:
            told = Described(**answer | {name: tuple(answer[name]) for name in ("methods", "printed")})
        described[task.request["case"]] = told
    return described


def _task(plan: Plan, job: Job) -> Task:
    """The request: what the method may know before its clock runs, and the case, which is hidden until then."""
    case = plan.suite.case(job.case)
    request: Document = {name: getattr(job, name) for name in ("accuracy", "time_limit", "threads")}
    request |= {"method": plan.packed.get(job.method, job.method), "trace": plan.suite.trace}
    request |= {"mechanism": packed((case.mechanism, dict(case.parameters)))}
    hidden = {"suite": plan.place, "case": job.case}
    grace = 1.0 + 0.1 * job.time_limit  # to stop by itself before it is ended from outside
    return Task(request | {"hidden": hidden}, job.time_limit + grace, job.memory_mb, job.key)


def _outcome(job: Job, answer: Document | NoAnswer) -> Document:
    """What the worker measured, or the termination and the message of a process that was ended."""
    if not isinstance(answer, NoAnswer):
        return _checked(answer)
    if answer.cause == "not given":  # which says nothing of the method
        raise BenchmarkError(f"the instance of {job.case} cannot be given to a method: {answer.sentence}")
    if answer.cause == "time":
        return {"termination": "time_limit", "message": f"ended from outside: over the time limit of {job.time_limit:g} s"}
    return {"termination": answer.cause, "message": answer.sentence}


def _checked(answer: Document) -> Document:
    """What the worker measured; where the server's clocks say that an answer took longer, these count, and are named."""
    found = {name: value for name, value in answer.items() if name not in ("busy", "outside", "ours", "overhead")}
    part, least = CLOCKS
    for name, call, seconds in zip(least, ("call", "busy"), answer["outside"], strict=True):
        inside = answer[call if answer["ours"] else name]
        if math.isfinite(answer["feasibility"]) and seconds > (1 + part) * inside + answer["overhead"] + least[name]:
            shown = f"showed {inside:.3g} s, ours outside it {seconds:.3g} s, which counts"
            told = f"{name}: the clock in its process {shown}"
            found |= {name: seconds, "message": "; ".join(filter(None, (found["message"], told)))}
    return found | {"call": max(found["call"], found["wall"])}


def _record(job: Job, outcome: Document) -> Record:
    texts = {name: text.encode(errors="backslashreplace").decode() for name, text in outcome.items() if isinstance(text, str)}
    lists = {"trace": tuple(map(tuple, outcome.get("trace", ()))), "quantities": tuple(outcome.get("quantities", ()))}
    tolerance = promised(read_accuracy(job.accuracy)) if job.accuracy else 0.0
    known = asdict(job) | {"started": _now(), "tolerance": tolerance}
    try:
        return fitting(Record(**known | outcome | texts | lists))
    except TypeError as error:  # such a row would make the file unreadable
        return Record(**known, termination="error", message=f"its answer is no record: {error}")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
