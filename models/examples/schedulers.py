"""Documented examples of schedulers as instances: what Kueue, KAI and Volcano write down, each reproduced or the difference told.

A queue is a group with one user, whose tasks are units of the first resource. Quotas that may be lent and taken back (Kueue's
nominal quota, KAI's deserved quota, Volcano's deserved resources) are guarantees, and requests are limits on tasks.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from fairalloc.models.examples.example import Example, given, tasks_in
from fairalloc.models.instance import Instance

KUEUE = "kubernetes-sigs/kueue"
KAI = "NVIDIA/KAI-Scheduler, pkg/scheduler/plugins/proportion/resource_division/resource_division_test.go"
VOLCANO = "volcano-sh/volcano"

PEERS = {"kueue": KUEUE, "kai": KAI.partition(",")[0], "volcano": VOLCANO}
"""The schedulers with documented examples, and how the places of these begin."""


@dataclass(frozen=True, repr=False)
class SchedulerExample(Example):
    """One documented example: `documented` are the tasks by users in its scheduler, and `difference` is why ours are others."""

    documented: tuple[Fraction, ...] = ()
    difference: str = ""

    @property
    def peer(self) -> str:
        """The scheduler, one of PEERS; "" of another source."""
        return next((name for name, begin in PEERS.items() if self.place.startswith(begin)), "")


def _queues(name: str, amount: Any, queues: Mapping[str, Any], requests: Any, resource: str = "gpu") -> "partial[Instance]":
    """One pool of a resource and queues with one user each: {queue: (weight, quota in units)}, requests in units."""
    groups = {
        queue: {"users": [f"in {queue}"], "weight": weight, "guarantee": Fraction(quota) / Fraction(amount)}
        for queue, (weight, quota) in queues.items()
    }
    users = [f"in {queue}" for queue in queues]
    return given(
        name,
        [[1]] * len(users),
        [[amount]],
        users=users,
        resources=[resource],
        max_tasks=requests,
        groups=groups,
    )


def _agreed(made: "partial[Instance]", place: str, mechanisms: str, documented: str) -> SchedulerExample:
    """An example whose documented tasks are those of some mechanisms."""
    tasks = tasks_in(documented)
    return SchedulerExample(made, place, dict.fromkeys(mechanisms.split(), tasks), documented=tasks)


def _borrowed(place: str, made: "partial[Instance]", documented: str, ours: str = "", difference: str = "") -> SchedulerExample:
    """An example whose weights divide what is beyond quotas; `ours` where it differs, "-" where its quotas cannot be kept."""
    answer = () if ours == "-" else tasks_in(ours or documented)
    configured = (("nested-leximin", {"compared": "borrowed"}, answer),) if answer else ()
    return SchedulerExample(made, place, {}, configured, tasks_in(documented), difference)


def _two(name: str, amount: int, weights: tuple[int, int] = (2, 2), requests: Any = (6, 6)) -> "partial[Instance]":
    """KAI's two queues: 2 GPUs deserved each."""
    return _queues(name, amount, {"queue-1": (weights[0], 2), "queue-2": (weights[1], 2)}, list(requests))


def _three(name: str, requests: Any, quotas: tuple[int, int, int] = (5, 5, 5), amount: int = 10) -> "partial[Instance]":
    """KAI's three queues with quotas of CPU, in cores."""
    queues = {f"queue-{k + 1}": (5, quota) for k, quota in enumerate(quotas)}
    return _queues(name, amount, queues, list(requests), "cpu")


_ENTRY = KAI + ", entry "
_CONCEPTS = f"{KUEUE}, site/content/en/docs/concepts"

SCHEDULER_EXAMPLES: tuple[SchedulerExample, ...] = (
    _borrowed(
        f"{_CONCEPTS}/cluster_queue.md, Borrowing: team B may use 12 + 9 CPUs while team A has no workloads",
        _queues("kueue-borrows-all", 21, {"team-b": (1, 12)}, None, "cpu"),
        "21",
    ),
    _borrowed(
        f"{_CONCEPTS}/cluster_queue.md, BorrowingLimit: team A may use 9 + 1 CPUs, which is a limit on its tasks",
        _queues("kueue-borrowing-limit", 21, {"team-a": (1, 9)}, [10], "cpu"),
        "10",
    ),
    _borrowed(
        f"{_CONCEPTS}/cluster_queue.md, LendingLimit: team B, which uses 5 of its 12 CPUs, lends 1",
        _queues("kueue-lending-limit", 21, {"team-a": (1, 9), "team-b": (1, 12)}, [None, 5], "cpu"),
        "10 5",
        "16 5",
        "Kueue keeps what is beyond a lending limit idle; guarantees here are lent in full, and max_tasks of team A says it",
    ),
    _borrowed(
        f"{_CONCEPTS}/cohort.md: a queue without a quota of its own may use the 12 CPUs of its cohort",
        _queues("kueue-cohort-quota", 12, {"my-cluster-queue": (1, 0)}, None, "cpu"),
        "12",
    ),
    _agreed(
        _queues("kueue-cohort-weights", 100, {"important-org": ("3/4", 0), "regular-org": ("1/4", 0)}, None),
        f"{_CONCEPTS}/cohort.md: weights 0.75 and 0.25 of common resources, in percent",
        "nested-leximin nested-nb",
        "75 25",
    ),
    _agreed(
        given(
            "kueue-story-3",
            [[1]] * 4,
            [[300]],
            weights=[1, 1, 3, 1],
            users=["1A", "1B", "1C", "2A"],
            resources=["gpu"],
            groups={"C1": ["1A", "1B", "1C"], "C2": ["2A"]},
        ),
        f"{KUEUE}, keps/1714-fair-sharing, Story 3: 300 lent GPUs",
        "nested-leximin nested-nb h-drf",
        "30 30 90 150",
    ),
    _borrowed(
        f"{KUEUE}, keps/1714-fair-sharing, Story 1: equal extra space whatever the quotas; the figures are ours",
        _queues("kueue-story-1", 12, {"TeamE": (1, 2), "TeamW": (1, 4)}, None),
        "5 7",
    ),
    _borrowed(f"{_ENTRY}'allocates many available gpus'", _two("kai-many", 15), "6 6"),
    _borrowed(f"{_ENTRY}'allocates exact requested amount gpus'", _two("kai-exact", 12), "6 6"),
    _borrowed(f"{_ENTRY}'allocates GPUs proportionally'", _two("kai-weights", 8, (1, 3)), "3 5"),
    _borrowed(f"{_ENTRY}'doesn't allocate more than allowed'", _two("kai-limit", 12, requests=(5, 6)), "5 6"),
    _borrowed(
        f"{_ENTRY}'distributes remainder between queues based on largest remaining'",
        _two("kai-remainder", 11, (1, 4), (10, 10)),
        "3 8",
        "17/5 38/5",
        "KAI rounds to whole GPUs by the largest remainder; tasks here are real numbers",
    ),
    _borrowed(
        f"{_ENTRY}'distributes remainder between queues based on creation time'",
        _two("kai-older-first", 11),
        "6 5",
        "11/2 11/2",
        "KAI gives the last whole GPU to the older queue; tasks here are real numbers",
    ),
    _borrowed(f"{_ENTRY}'priority doesn't affect deserved'", _two("kai-priority-deserved", 4), "2 2"),
    _borrowed(
        f"{_ENTRY}'priority does affect over-quota'",
        _two("kai-priority", 6),
        "2 4",
        "3 3",
        "KAI serves queues of a higher priority first beyond quotas; groups here have weights alone",
    ),
    _borrowed(
        f"{KAI}, three queues, 'reclaims unneeded resources from an allocated queue'",
        _three("kai-unneeded", (7, 2, 2)),
        "6 2 2",
    ),
    _borrowed(
        f"{KAI}, three queues, 'all queues get their deserved fairShare - over quota'",
        _three("kai-over-quota", (6, 6, 6), amount=18),
        "6 6 6",
    ),
    _borrowed(
        f"{KAI}, three queues, 'q2 has no deserved CPU but is allowed OQ'",
        _three("kai-no-quota", (5, 5, 5), (5, 0, 5)),
        "5 0 5",
    ),
    _borrowed(
        f"{KAI}, three queues, 'all queues get their deserved fairShare - over subscription'",
        _three("kai-over-subscription", (5, 5, 5)),
        "5 5 5",
        "-",
        "KAI's fair shares are quotas of 15 CPUs where there are 10; guarantees that cannot be kept are refused here",
    ),
    _borrowed(
        f"{VOLCANO}, docs/user-guide/how_to_use_capacity_plugin.md: queue1 uses all 8 CPUs while queue2 is idle",
        _queues("volcano-idle", 8, {"queue1": (2, 2)}, [8], "cpu"),
        "8",
    ),
    _agreed(
        given(
            "volcano-reclaim",
            [[1, 4], [1, 4]],
            [[8, 32]],
            max_tasks=[8, 8],
            users=["demo-1", "demo-2"],
            resources=["cpu", "memory"],
            groups={
                "queue1": {"users": ["demo-1"], "weight": 2, "guarantee": "1/4"},
                "queue2": {"users": ["demo-2"], "weight": 6, "guarantee": "3/4"},
            },
        ),
        f"{VOLCANO}, docs/user-guide/how_to_use_capacity_plugin.md: queue2 takes its deserved 6 CPUs and 24Gi back",
        "nested-leximin nested-nb",
        "2 6",
    ),
    _agreed(
        _queues("volcano-deserved", 100, {"Queue1": (20, 20), "Queue2": (80, 80)}, None, "A100"),
        f"{VOLCANO}, docs/design/capacity-scheduling.md, Story 3: A100 cards, 20 and 80 deserved",
        "nested-leximin nested-nb",
        "20 80",
    ),
    _agreed(
        given(
            "hdrf-rescaling",
            [[1, 1], [1, 0], [0, 1]],
            [[10, 10]],
            max_tasks=[10, 10, 10],
            users=["pg1", "pg21", "pg22"],
            resources=["cpu", "memory"],
            groups={"sci": ["pg1"], "eng": ["pg21", "pg22"]},
        ),
        f"{VOLCANO}, pkg/scheduler/plugins/drf/hdrf_test.go, 'rescaling test'",
        "h-drf",
        "5 5 5",
    ),
    _agreed(
        given(
            "hdrf-blocking",
            [[1, 0], [1, 0], [1, 0], [0, 1], [0, 1]],
            [[30, 30]],
            max_tasks=[30] * 5,
            users=["pg1", "pg2", "pg31", "pg32", "pg4"],
            resources=["cpu", "memory"],
            groups={"g1": ["pg1"], "g2": ["pg2"], "g3": ["pg31", "pg32"], "g4": ["pg4"]},
        ),
        f"{VOLCANO}, pkg/scheduler/plugins/drf/hdrf_test.go, 'blocking nodes test'; Bhattacharya et al. 2013",
        "h-drf",
        "10 10 10 15 15",
    ),
    _agreed(
        given(
            "hdrf-complementary",
            [[0, 1], [1, 0], [0, 1]],
            [[10, 10]],
            users=["n1", "n2.1", "n2.2"],
            resources=["cpu", "gpu"],
            groups={"first": ["n1"], "second": ["n2.1", "n2.2"]},
        ),
        f"{VOLCANO}, docs/design/hdrf.md: children with complementary dominant resources; Bhattacharya et al. 2013",
        "h-drf",
        "5 10 5",
    ),
    SchedulerExample(
        given(
            "gavel-three-jobs",
            [[1], [1], [1]],
            {"v100": [1], "p100": [1], "k80": [1]},
            rates=[[40, 20, 10], [12, 4, 2], [100, 50, 25]],
            max_tasks=[1000, 100, 3000],
            users=["job 1", "job 2", "job 3"],
            resources=["workers"],
        ),
        "Narayanan et al. 2020, section 2: three jobs on three kinds of accelerators; the figures are ours",
        {
            "gavel-max-min": (Fraction(2310, 97), Fraction(594, 97), Fraction(5775, 97)),
            "gavel-makespan": (Fraction(132, 5), Fraction(66, 25), Fraction(396, 5)),
        },
        # derived; of the first program others have the same least level
    ),
)
