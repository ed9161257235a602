"""theorems."""

if not __name__.startswith("fairalloc."):
    raise ImportError("import this package as fairalloc.theorems, not as theorems: it is mapped into fairalloc")
