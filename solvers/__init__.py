"""solvers."""

if not __name__.startswith("fairalloc."):
    raise ImportError("import this package as fairalloc.solvers, not as solvers: it is mapped into fairalloc")
