"""The outcomes of claims in full runs that are kept with the package, so that statements of the papers can rest on them.

`fairalloc simulate --keep FILE` writes them: what was found, with which size, workload and seeds, when, and the command.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from fairalloc.models.errors import InstanceError
from fairalloc.models.files.jsonio import read_json, write_json
from fairalloc.simulation.experiments.experiment import Outcomes

KEPT = Path(__file__).parent / "verdicts.json"


@dataclass(frozen=True)
class KeptVerdict:
    """An outcome (word, because), and the run that it is of: size, workload, the most seeds of a competitor, day and command."""

    word: str
    because: str
    size: str
    workload: str
    seeds: int
    day: str
    command: str

    @property
    def run(self) -> str:
        """The run in a few words."""
        return f"{self.command}; {f'{self.seeds} seeds' if self.seeds > 1 else 'one seed'}, {self.day}"


@cache
def kept_verdicts(path: Path = KEPT) -> dict[str, KeptVerdict]:
    """By id of the claim; none where there is no such file."""
    if not path.exists():
        return {}
    try:
        return {name: KeptVerdict(**kept) for name, kept in read_json(path).items()}
    except (TypeError, AttributeError):
        raise InstanceError(f"{path} holds no verdicts of experiments") from None


def keep_verdicts(found: Sequence[Outcomes], path: Path = KEPT) -> None:
    """Put the outcomes of some runs into a file, beside those of other experiments; the day of one that says the same stays.

    What was kept of claims that an experiment has no more is gone; where nothing was measured, what was kept stays.
    """
    kept_verdicts.cache_clear()
    kept = kept_verdicts(path)
    day = datetime.now(UTC).date().isoformat()
    for one in (one for one in found if one.labels):
        new = {
            name: KeptVerdict(judged.word, judged.because, one.extent, one.workload, one.counts[1], day, one.command)
            for name, judged in one.judged.items()
        }
        same = {name: kept[name] for name in new if name in kept and replace(kept[name], day=day) == new[name]}
        own = f"{one.experiment.id}."
        kept = {name: verdict for name, verdict in kept.items() if not f"{name}.".startswith(own)} | new | same
    write_json({name: asdict(kept[name]) for name in sorted(kept)}, path)
    kept_verdicts.cache_clear()
