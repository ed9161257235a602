"""Jobs on accelerators, for Gavel's policies."""

import random

import fairalloc as fa


def jobs(seed):
    """2 to 6 jobs of 1 to 4 workers and 10 to 300 steps, with throughputs on 1 to 4 kinds of accelerators."""
    rng = random.Random(seed)
    N, K = rng.randint(2, 6), rng.randint(1, 4)
    rates = [[rng.choice([0, 1, 2, 5, 8]) or int(i == n % K) for i in range(K)] for n in range(N)]
    demands, steps = [[rng.choice([1, 1, 2, 4])] for _ in range(N)], [rng.choice([10, 100, 300]) for _ in range(N)]
    return fa.Instance(
        demands,
        [[rng.randint(1, 4)] for _ in range(K)],
        rates=rates,
        max_tasks=steps,
        weights=[rng.choice([1, 2]) for _ in range(N)],
    )
