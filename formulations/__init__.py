"""formulations."""

if not __name__.startswith("fairalloc."):
    raise ImportError("import this package as fairalloc.formulations, not as formulations: it is mapped into fairalloc")
