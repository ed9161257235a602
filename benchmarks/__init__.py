"""benchmarks."""

if not __name__.startswith("fairalloc."):
    raise ImportError("import this package as fairalloc.benchmarks, not as benchmarks: it is mapped into fairalloc")
