"""The gallery: figures with the code that draws them, drawn when the site is built."""

import io
from collections.abc import Iterator
from textwrap import dedent

FIGURES = {
    "allocation": (
        "Who takes what of every server",
        """
        ax = fa.solve(fa.example("khamse-fig1").instance, "ps-dsf").plot()
        """,
    ),
    "dominant-shares": (
        "Dominant shares under several mechanisms",
        """
        ax = fa.compare(fa.example("khamse-fig1").instance, ["uniform", "drfh", "nb", "ps-dsf"]).plot()
        """,
    ),
    "many-users": (
        "Many users: those with the largest shares, and the others together",
        """
        ax = fa.solve(fa.generators.generic(40, 4, 3, 1), "nb").plot()
        """,
    ),
    "feasible-region": (
        "What two users can run, and where mechanisms stand",
        """
        servers = fa.Instance([["1/5", 1], [1, "1/5"]], [[2, 12], [12, 2]])
        points = {name: fa.solve(servers, name) for name in ("uniform", "drfh", "utilitarian")}
        ax = fa.plots.feasible_region(servers, points=points)
        """,
    ),
    "prices": (
        "Prices of the resources of every server",
        """
        ax = fa.solve(fa.example("khamse-fig1").instance, "nb").plot("prices")
        """,
    ),
    "eligibility": (
        "Who may run where",
        """
        ax = fa.plots.eligibility(fa.generators.placement(12, 8, 3, 1))
        """,
    ),
    "rounds": (
        "Rounds of a lexicographic mechanism",
        """
        pool = fa.Instance([[1, 2], [2, 1], [1, 1]], [[9, 12]], max_tasks=[1, 3, None])
        ax = fa.solve(pool, "drfh", "progressive-filling", trace=True).plot("rounds")
        """,
    ),
    "convergence": (
        "How the residual of a solver falls",
        """
        pool = fa.generators.generic(12, 4, 3, 1)
        ax = fa.plots.convergence({"pdhg": fa.solve(pool, "nb", "pdhg", trace=True)})
        """,
    ),
    "sweep": (
        "Tasks over alpha",
        """
        from fairalloc.analysis.tradeoff import tradeoff

        servers = fa.example("khamse-fig3").instance
        ax = fa.plots.sweep(tradeoff(servers, [0.5, 1, 2, 4, 8, 16]), "tasks")
        """,
    ),
    "profiles": (
        "Performance profiles of solvers",
        """
        ratios = {"one": [1.0, 1.0, 3.0, 1.2], "other": [1.5, 2.0, 1.0, float("inf")]}
        ax = fa.plots.performance_profiles({"nb": ratios})
        """,
    ),
}
"""For each figure its title and the code, which leaves it in `ax`."""


def gallery_pages() -> Iterator[tuple[str, str | bytes]]:
    """(path, content) of the gallery and its figures."""
    parts = ["# Gallery\n", "Every figure stands above the code that draws it. The code begins with `import fairalloc as fa`.\n"]
    for name, (title, code) in FIGURES.items():
        yield f"gallery/{name}.svg", drawn(code)
        parts += [f"## {title}\n", f"![{title}](gallery/{name}.svg)\n", f"```python\n{dedent(code).strip()}\n```\n"]
    parts.append("The functions are in [Properties, proofs and explanations](reference/judging.md), under `fairalloc.plots`.\n")
    yield "gallery.md", "\n".join(parts)


def drawn(code: str) -> bytes:
    """The figure that the code draws, as SVG."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt
    import numpy as np

    scope: dict[str, object] = {}
    exec("import fairalloc as fa\n" + dedent(code), scope)
    found, out = np.atleast_1d(np.asarray(scope["ax"], dtype=object)).ravel()[0], io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "gallery"}):  # the same file for the same figure
        found.figure.savefig(out, format="svg", metadata={"Date": None})
    plt.close("all")
    return out.getvalue()
