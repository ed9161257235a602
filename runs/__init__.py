"""What theorems, simulation and benchmarks share: processes, records and pages."""

if not __name__.startswith("fairalloc."):
    raise ImportError("import this package as fairalloc.runs, not as runs: it is mapped into fairalloc")
