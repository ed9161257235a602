"""Two record files compared: what one method takes on one case now, in units of what it took before.

1. Of each file the newest run counts, or the newest of a suite.
2. A pair is what both have of one case's instance (by its fingerprint), mechanism, method and accuracy. Case names, code,
   versions and machines may differ; the versions and machines are stated.
3. The ratio of a pair is the median cost now over the median cost before, both shifted as in means. A cost is processor seconds,
   which other programs on the machine hardly change; a failure costs PENALTY times the larger of the two time limits, and
   what the smaller one would have ended is a failure. What was not asked after a failure has no pair.
4. A method of a mechanism has the ratio of its two shifted geometric means over all its pairs, on FEWEST cases and more with a
   bootstrap interval over cases and repeats, and the chance of such a difference between equals, corrected for all of them
   (Benjamini and Hochberg).
5. A ratio above the threshold with a chance of at most LEVEL is a loss, one below 1 / threshold a gain. A pair that was solved
   before and is not now is a loss whatever its cost, the opposite a gain; of both the loss counts. Times of one case decide none.
6. Where wall time is TOO_BUSY times processor time in the median of a run, its machine was busy or its methods waited, and
   nothing is compared.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any

from fairalloc.benchmarks import metrics
from fairalloc.benchmarks.records import SKIPPED, UNDEFINED, BenchmarkStore, Record, RecordedRun
from fairalloc.benchmarks.suites.suite import BenchmarkError
from fairalloc.models.arguments import Rule, checked
from fairalloc.models.tables import Grid

Ratio = Annotated[float, Rule(lambda value: 1 < value < math.inf, "a finite number above 1")]


@dataclass(frozen=True)
class CostChange:
    """What a method takes now in units of what it took before.

    Attributes
    ----------
    mechanism, method, accuracy : of which; the accuracy is "" for all together
    case : its name in the newer file, "" for all together
    cases : how many there are
    before, now : seconds, the median of the repeats or the shifted geometric mean over the cases; failures at what they cost
    solved_before, solved_now : on how many of the cases the median repeat succeeds
    ratio, low, high : now over before, and its interval, None on few cases
    chance : of such a difference between equals, corrected for all methods; 1 on few cases
    verdict : "loss", "gain" or ""
    """

    mechanism: str
    method: str
    accuracy: str
    case: str
    cases: int
    before: float
    now: float
    solved_before: int
    solved_now: int
    ratio: float
    low: float | None
    high: float | None
    chance: float
    verdict: str


@dataclass(frozen=True)
class Comparisons:
    """The comparison of two files.

    Attributes
    ----------
    files : the older and the newer
    runs : of each the run that counts
    threshold : of gains and losses
    by_method : a change for each method of each mechanism, over its pairs
    by_case : a change for each pair
    unpaired : how many keys only one of the files has
    busy : of each whether its machine was busy or it is not finished, a text; "" where neither is so
    """

    files: tuple[str, str]
    runs: tuple[RecordedRun, RecordedRun]
    threshold: float
    by_method: tuple[CostChange, ...]
    by_case: tuple[CostChange, ...]
    unpaired: tuple[int, int]
    busy: tuple[str, str]

    @property
    def regressed(self) -> bool:
        """Whether something is a loss."""
        return any(change.verdict == "loss" for change in (*self.by_method, *self.by_case))

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What is compared, on which machines, with which versions."""
        where = [
            f"{name} is {file}, run {run.number} of {run.started}, suite {run.suite}: {_place(run.details)}"
            for name, file, run in zip("AB", self.files, self.runs, strict=True)
        ]
        differ = _differences(*(run.details for run in self.runs))
        what = (
            f"ratio: processor time of B in units of A, shifted by {1e3 * metrics.SHIFT:g} ms; a failure costs "
            f"{metrics.PENALTY:g} times the limit; intervals: 95 % bootstrap over cases and repeats; a loss is a case that is no "
            f"longer solved, or a ratio above {self.threshold:g} on {metrics.FEWEST} cases or more with a chance of at most "
            f"{100 * metrics.LEVEL:g} % in a test of signs, corrected for all methods (Benjamini and Hochberg)."
        )
        count = len(self.by_method)
        needed = math.ceil(1 + math.log2(count / metrics.LEVEL))  # all signs are alike with a chance of 2 ** (1 - cases)
        few = [f"With {count} methods a loss of one alone is found on {needed} cases or more."]
        few = few if any(metrics.FEWEST <= change.cases < needed for change in self.by_method) else []
        pairs = f"pairs: {len(self.by_case)}; without a partner: {self.unpaired[0]} of A, {self.unpaired[1]} of B."
        busy = [f"{name}: {text}" for name, text in zip("AB", self.busy, strict=True) if text]
        return (
            *where,
            *busy,
            f"different: {differ}" if differ else "The machines and all versions are the same.",
            what,
            *few,
            pairs,
        )

    def grids(self) -> tuple[Grid, Grid]:
        """By method, and the cases that are gains or losses, or whose ratio is beyond the threshold."""
        far = [c for c in self.by_case if c.verdict or not 1 / self.threshold <= c.ratio <= self.threshold]
        cases = sorted(far, key=lambda c: -c.ratio)
        named = [[c.mechanism, c.method, c.accuracy, c.case, *_cells(c)[:3], c.verdict] for c in cases]
        every = [[c.mechanism, c.method, str(c.cases), f"{c.solved_before} / {c.solved_now}", *_cells(c)] for c in self.by_method]
        heads = ("A ms", "B ms", "B / A")
        columns = ("mechanism", "method", "cases", "solved A / B", *heads, "interval", "chance", "verdict")
        return (
            Grid("By method", columns, every, self.notes, right=range(2, 9)),
            Grid("Changes by case", ("mechanism", "method", "accuracy", "case", *heads, "verdict"), named, right=range(4, 7)),
        )

    def to_dict(self) -> dict[str, Any]:
        """The same as names and numbers."""
        return {
            "files": list(self.files),
            "runs": [{"started": run.started, "suite": run.suite, "details": dict(run.details)} for run in self.runs],
            "threshold": self.threshold,
            **{name: list(map(asdict, getattr(self, name))) for name in ("by_method", "by_case")},
            "unpaired": list(self.unpaired),
            "busy": list(self.busy),
            "regressed": self.regressed,
        }


@checked
def compare(before: str | Path, now: str | Path, threshold: Ratio = 1.2, suite: str | None = None) -> Comparisons:
    """Compare the newest runs of two record files.

    Parameters
    ----------
    before, now : the files; they may be one, of which the last two runs are compared
    threshold : a ratio above 1
    suite : whose newest runs are compared; None = any

    Raises
    ------
    InstanceError : a threshold that is not above 1
    BenchmarkError : a file that is not there or has no such run, runs with nothing in common, or
        a run on a machine that was too busy
    """
    same = Path(before).exists() and Path(now).exists() and Path(before).samefile(now)
    (old, first, *left), (new, second, *rest) = _newest(before, suite, 1 if same else 0), _newest(now, suite, 0)
    busy = "; ".join(_busy(before, old, first) + left[0]), "; ".join(_busy(now, new, second) + rest[0])
    sides = [_repeats(first), _repeats(second)]
    keys = [key for key in sides[1] if key in sides[0]]
    if not keys:
        raise BenchmarkError(f"{before} and {now} have no case, mechanism, method and accuracy in common")
    pairs = {key: _costs(sides[0][key], sides[1][key]) for key in keys}
    by_case = tuple(_change((*key[1:4], sides[1][key][0].case), [pairs[key]]) for key in keys)
    methods = metrics.grouped(keys, lambda key: key[1:3])
    by_method = _decided([_change((*name, "", ""), [pairs[key] for key in own]) for name, own in methods.items()], threshold)
    unpaired = len(sides[0]) - len(keys), len(sides[1]) - len(keys)
    return Comparisons((str(before), str(now)), (old, new), float(threshold), by_method, by_case, unpaired, busy)


def _repeats(records: Iterable[Record]) -> dict[tuple[str, str, str, str, int], list[Record]]:
    """The repeats of each solve of step 2; of cases with the same instance and mechanism the first by name, the second, .."""
    groups = metrics.grouped(records, attrgetter("fingerprint", "mechanism", "method", "accuracy"))
    by_case = {key: sorted(metrics.grouped(rows, attrgetter("case")).items()) for key, rows in groups.items()}
    return {(*key, k): rows for key, cases in by_case.items() for k, (_, rows) in enumerate(cases)}


def _newest(path: str | Path, suite: str | None, back: int) -> tuple[RecordedRun, list[Record], list[str]]:
    """Step 1: the newest run but `back`, its rows about solves, and whether it is finished; one that was resumed is one run."""
    with BenchmarkStore.recorded(path) as store:
        newest = {frozenset(run.keys): run for run in store.runs() if suite in (None, run.suite)}
        runs = sorted(newest.values(), key=attrgetter("number"))
        if len(runs) <= back:
            of = f" of the suite {suite!r}" if suite else ""
            raise BenchmarkError(f"{path} holds {len(runs)} run{'s' * (len(runs) != 1)}{of}, but {back + 1} are needed")
        run = runs[-1 - back]
        wanted = set(run.keys)
        found = [record for record in store.records() if record.key in wanted]
        return run, [r for r in found if r.method != UNDEFINED and r.termination != SKIPPED], run.unfinished(len(found))


def _busy(path: str | Path, run: RecordedRun, records: Iterable[Record]) -> list[str]:
    """Step 6: how busy the machine was, [] where it was not."""
    ratio = metrics.busyness(records)
    if ratio >= metrics.TOO_BUSY:
        rule = f"nothing is compared from {metrics.TOO_BUSY:g} on: measure again on a quiet machine"
        raise BenchmarkError(f"run {run.number} of {path}: {metrics.busy_sentence(ratio)}, but {rule}")
    return [metrics.busy_sentence(ratio)] if ratio > metrics.BUSY else []


def _costs(before: Sequence[Record], now: Sequence[Record]) -> list[metrics.Charged]:
    least, *_, most = sorted(record.time_limit for record in (*before, *now))
    failure, ended = metrics.PENALTY * most, 1 + 1.1 * least if least < most else math.inf  # by the smaller one, from outside
    sides = [[r.cpu if metrics.succeeded(r) and r.wall <= ended else math.inf for r in side] for side in (before, now)]
    return [metrics.charged(costs, failure) for costs in sides]


def _change(name: tuple[str, str, str, str], pairs: Sequence[Sequence[metrics.Charged]]) -> CostChange:
    """Steps 3 and 4, and of step 5 what is solved; the name is mechanism, method, accuracy and case."""
    before, now = zip(*pairs, strict=True)
    medians = [tuple(cost.median for cost in side) for side in (before, now)]
    old, new = map(metrics.shifted_geometric_mean, medians)
    first, second = (sum(cost.solved for cost in side) for side in (before, now))
    shifted = [[[value + metrics.SHIFT for value in cost.seconds] for cost in side] for side in (now, before)]
    low, high = (None if math.isnan(end) else end for end in metrics.interval(shifted, shift=0.0))  # of the shifted means
    verdict = "" if first == second else "loss" if second < first else "gain"
    ratio = (new + metrics.SHIFT) / (old + metrics.SHIFT)  # below the shift differences are noise
    return CostChange(*name, len(pairs), old, new, first, second, ratio, low, high, metrics.chance(*medians), verdict)


def _decided(changes: Sequence[CostChange], threshold: float) -> tuple[CostChange, ...]:
    """Steps 4 and 5: the changes with corrected chances, and the verdicts that follow."""
    found = []
    for change, chance in zip(changes, metrics.corrected([change.chance for change in changes]), strict=True):
        beyond = "loss" if change.ratio > threshold else "gain" if change.ratio < 1 / threshold else ""
        verdicts = {change.verdict, beyond if chance <= metrics.LEVEL else ""}
        verdict = next((word for word in ("loss", "gain") if word in verdicts), "")
        found.append(replace(change, chance=chance, verdict=verdict))
    return tuple(found)


def _place(details: Mapping[str, Any]) -> str:
    """The machine and the versions of a run."""
    known = details.get("machine", {})
    here = [str(known[name]) for name in ("cpu", "system") if name in known]
    return ", ".join([*here, *(f"{name} {details[name]}" for name in ("fairalloc", "python") if name in details)])


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """What of machines, versions and settings is not the same, as a text."""
    parts = [(before.get(part, {}), now.get(part, {})) for part in ("machine", "packages", "setting")]
    pairs = [(name, one.get(name), other.get(name)) for one, other in parts for name in {**one, **other}]
    pairs += [(name, before.get(name), now.get(name)) for name in ("fairalloc", "python")]
    return ", ".join(f"{name} {one} and {other}" for name, one, other in pairs if one != other)


def _cells(change: CostChange) -> list[str]:
    seconds = [f"{1e3 * value:.4g}" for value in (change.before, change.now)]
    ends = "-" if change.low is None or change.high is None else f"{change.low:.3g} to {change.high:.3g}"
    chance = "-" if change.cases < metrics.FEWEST else f"{change.chance:.2g}"
    return [*seconds, f"{change.ratio:.3g}", ends, chance, change.verdict]
