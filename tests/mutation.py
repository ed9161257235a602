"""How many small faults of the core the quick tests see: `.venv/bin/python tests/mutation.py --seed 1 --count 60`, by hand.

1. Places of the core (`mutants`) are drawn at random. In a copy of the tree the tests of each drawn room pass as it is.
2. There each place is changed alone. The tests that import its file or have its name run, then those of its room and BESIDE it.
3. A test that fails, or no end within --timeout, kills the mutant. Survivors are printed: one may be equivalent to the code.
"""

import argparse
import ast
import copy
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("models", "formulations", "solvers", "analysis", "simulation")
DRAWN = ("analysis/plots/", "analysis/explorer", "simulation/experiments/figures")
"""Widths and places in pictures, which are looked at, are not drawn."""
NEGATED = {ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
MOVED = NEGATED | {ast.GtE: ast.Gt, ast.LtE: ast.Lt}
"""Of comparisons with whole numbers the limit moves; of others, where equality is rounding, the sense is the opposite one."""
TOLERANCE, LOOSER = 0.02, 1e6
"""Numbers below the first, and constants of a file, become as much larger; others become 0.6 of what they are."""
MEMORY = 10_000_000
"""Kilobytes of a test run: without a limit a mutant took all that the machine had, and its runs were ended with it."""
BESIDE = {"solvers": "formulations", "formulations": "solvers"}
"""Rooms that are tested together: a mechanism is seen by what solves it."""
SIGNS = {ast.Add: ast.Sub, ast.Sub: ast.Add}
BOUNDS = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}
NO_VALUES = {"annotation", "returns", "decorator_list"}
NO_CODE = (ast.Raise, ast.JoinedStr, ast.Assert)  # messages are no formulas, and places in f-strings are not known


class Mutant(NamedTuple):
    """The source of a file with one place changed."""

    line: int
    before: str
    after: str
    source: str


def nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All that is computed: no messages and no types."""
    for name, value in ast.iter_fields(tree):
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.AST) and not isinstance(node, NO_CODE) and name not in NO_VALUES:
                yield node
                yield from nodes(node)


def changed(node: ast.AST, others: list[str], constants: set[int]) -> ast.AST | None:
    """The node with one small fault, None where there is nothing to change; `others` are the variables beside it.

    `constants` are the ids of the nodes in assignments outside functions.
    """
    new = copy.deepcopy(node)
    match new:
        case ast.Compare(ops=[op], comparators=[other]) if type(op) in NEGATED:
            whole = isinstance(other, ast.Constant) and isinstance(other.value, int)
            new.ops = [(MOVED if whole else NEGATED)[type(op)]()]
        case ast.BinOp(op=op) if type(op) in SIGNS:
            new.op = SIGNS[type(op)]()
        case ast.Constant(value=float(value)) if value:
            new.value = value * (LOOSER if abs(value) < TOLERANCE or id(node) in constants else 0.6)
        case ast.Name(id=name) if name in BOUNDS:
            return ast.Name(BOUNDS[name])
        case ast.Attribute(attr=name) if name in BOUNDS:
            new.attr = BOUNDS[name]
        case ast.Slice(upper=ast.Constant(value=int(end))):
            new.upper.value = end - 1
        case ast.UnaryOp(op=ast.Not()):
            return new.operand
        case ast.Return(value=ast.Name(id=name)) if [other for other in others if other != name]:
            new.value.id = next(other for other in reversed(others) if other != name)
        case _:
            return None
    return new


def mutants(source: str) -> list[Mutant]:
    """The source with one fault each, wherever there can be one."""
    found, others = [], list[str]()
    code = source.encode()  # Python counts bytes
    starts = [0, *accumulate(map(len, code.splitlines(keepends=True)))]
    tree = ast.parse(source)
    constants = {id(part) for item in tree.body if isinstance(item, ast.Assign) for part in ast.walk(item)}
    for node in nodes(tree):
        if isinstance(node, ast.FunctionDef):
            others = [part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]
        if (new := changed(node, others, constants)) is not None:
            start, end = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
            after = ast.unparse(new) if isinstance(new, ast.Slice | ast.Return) else f"({ast.unparse(new)})"
            whole = (code[:start] + after.encode() + code[end:]).decode()
            found.append(Mutant(node.lineno, code[start:end].decode(), after, whole))
    return found


def tests_of(file: Path, tree: Path) -> list[str]:
    """The tests that import the file or have its name, then those of its room, of which those come first that say its name."""
    module, words = ".".join(["fairalloc", *file.with_suffix("").parts]), (file.stem, file.stem.replace("_", "-"))
    rooms = [file.parts[0], *filter(None, [BESIDE.get(file.parts[0])])]
    found = []
    for path in (tree / "tests").rglob("test_*.py"):
        test, text = path.relative_to(tree), path.read_text()
        own, room = f"{module} import" in text or path.stem == f"test_{file.stem}", test.parts[1]
        if own or room in rooms:
            place = rooms.index(room) if room in rooms else len(rooms)
            found.append((not own, not any(word in text for word in words), place, str(test)))
    return [test for *_, test in sorted(found)]


def failure(file: Path, tree: Path, timeout: float) -> str:
    """Which test of the file's room fails, or that they do not end or want more than MEMORY; "" where all pass."""
    limited = ["sh", "-c", f'ulimit -v {MEMORY}; exec "$@"', "sh"]
    command = [*limited, sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-p", "no:cacheprovider", *tests_of(file, tree)]
    settings = os.environ | {"PYTHONPATH": str(tree), "CI": "true", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    try:
        done = subprocess.run(command, cwd=tree, env=settings, capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return "they do not end"
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return " ".join(failed or done.stdout.splitlines()[-1:] or ["ended"]) if done.returncode else ""


def killed(file: Path, one: Mutant, tree: Path, timeout: float) -> bool:
    """Whether the tests notice the mutant."""
    before = (tree / file).read_text()
    (tree / file).write_text(one.source)
    try:
        return bool(failure(file, tree, timeout))
    finally:
        (tree / file).write_text(before)


def main() -> None:
    parser = argparse.ArgumentParser(description="How many small faults of the core the quick tests see.")
    for name, default in {"--seed": 1, "--count": 60, "--timeout": 1800, "--jobs": 2}.items():
        parser.add_argument(name, type=int, default=default)
    asked, survivors = parser.parse_args(), 0
    files = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")[:-1]
    core = [Path(f) for f in files if f.endswith(".py") and f.startswith(ROOMS) and not f.startswith(DRAWN)]
    places = [(file, k) for file in core for k in range(len(mutants((ROOT / file).read_text())))]
    drawn = random.Random(asked.seed).sample(places, asked.count)
    trees: SimpleQueue[Path] = SimpleQueue()

    def unchanged(file: Path) -> str:
        tree = trees.get()
        try:
            return failure(file, tree, asked.timeout)
        finally:
            trees.put(tree)

    def alive(place: tuple[Path, int]) -> tuple[Mutant, bool]:
        (file, k), tree = place, trees.get()
        try:
            one = mutants((tree / file).read_text())[k]
            return one, not killed(file, one, tree, asked.timeout)
        finally:
            trees.put(tree)

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(asked.jobs) as pool:
        for k in range(asked.jobs):
            (tree := Path(folder) / str(k)).mkdir()
            subprocess.run(["cp", "-P", "--parents", *files, tree], cwd=ROOT, check=True)
            trees.put(tree)
        rooms = {file.parts[0]: file for file, _ in drawn}
        for room, failed in zip(rooms, pool.map(unchanged, rooms.values()), strict=True):
            if failed:
                sys.exit(f"the tests of {room} fail before anything is changed: {failed}")
        for number, ((file, _), (one, lives)) in enumerate(zip(drawn, pool.map(alive, drawn), strict=True), 1):
            survivors += lives
            print(f"{number} {'SURVIVES' if lives else 'killed'} {file}:{one.line}: {one.before!r} -> {one.after!r}", flush=True)
    print(f"{asked.count - survivors} of {asked.count} mutants killed ({1 - survivors / asked.count:.0%})")


if __name__ == "__main__":
    main()
