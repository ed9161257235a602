"""Records of experiments: one row for each trial, only ever added to.

The key of a row is a hash of all that was asked and of the code that computed it, so that a run that was stopped goes on where it
was, and an edit of one experiment leaves the records of the others valid.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Any

from fairalloc.runs.store import RecordStore, only_added
from fairalloc.simulation.experiments.trial import TrialResult


@dataclass(frozen=True)
class Asked:
    """A trial as it was asked for; of what is `sent` another process makes the competitor and measures it.

    `measure` names what is measured, which experiments may share: then a trial counts for all of them. The settings of the size
    and of the variant are JSON. `code` is the hash of the code of the experiment and the competitor (runs/fingerprint.py).
    """

    experiment: str
    measure: str
    size: str
    workload: str
    variant: str
    competitor: str
    sent: Any
    seed: int
    settings: str
    code: str

    @cached_property
    def key(self) -> str:
        """Hash of what is measured, but for what is sent of a competitor, whose code counts."""
        asked = [self.measure, self.size, self.workload, self.competitor, self.seed, self.settings, self.code]
        return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:24]


class ExperimentStore(RecordStore):
    """A records file of experiments, made if it is not there; close it, or use it in a `with` statement."""

    kind, contents, layout = "records file of experiments", "records", 2
    tables = f"""
CREATE TABLE IF NOT EXISTS trial (
    key TEXT PRIMARY KEY, experiment, size, workload, variant, competitor, seed, started, seconds, answer
);
{only_added("trial")}
"""

    def add(self, asked: Asked, started: str, answer: Mapping[str, Any]) -> None:
        """Append one row and commit it; the first row of a key stays."""
        names = ("key", "experiment", "size", "workload", "variant", "competitor", "seed")
        about = {name: getattr(asked, name) for name in names}
        self.insert("trial", about | {"started": started, "seconds": answer["seconds"], "answer": json.dumps(answer)})

    def measured(self, key: str) -> TrialResult | None:
        """What was measured under a key; None where nothing was."""
        rows = self.select("SELECT answer FROM trial WHERE key = ?", [key])
        parts = itemgetter("numbers", "curves", "counts", "most")
        return self.parsed(lambda text: TrialResult(*parts(json.loads(text))), rows[0][0]) if rows else None
