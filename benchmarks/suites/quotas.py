"""The suite `quotas`: documented examples of schedulers with groups, quotas and accelerators, with their exact answers."""

from fairalloc.benchmarks.suites.papers import cases_of
from fairalloc.benchmarks.suites.suite import Suite
from fairalloc.models.examples.schedulers import SCHEDULER_EXAMPLES

SUITE = Suite("quotas", "documented examples of Kueue, KAI, Volcano and Gavel", tuple(cases_of(SCHEDULER_EXAMPLES)))
