"""The statements of the five papers as something that runs: what is claimed, what it assumes, and the search for a violation."""

if not __name__.startswith("fairalloc."):
    raise ImportError("import this package as fairalloc.theorems, not as theorems: it is mapped into fairalloc")
