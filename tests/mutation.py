"""How many small faults of the core the quick tests see: `.venv/bin/python tests/mutation.py --seed 1 --count 60`, by hand.

1. Places of the core (`sites`) are drawn at random. In a copy of the tree the tests of each drawn room pass as it is.
2. There each place is changed alone, and the tests of its room run, those that import the file first.
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
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("models", "formulations", "solvers", "analysis", "simulation")
OTHER_COMPARISON = {ast.Lt: ast.GtE, ast.GtE: ast.Gt, ast.Gt: ast.LtE, ast.LtE: ast.Lt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
OTHER_SIGN = {ast.Add: ast.Sub, ast.Sub: ast.Add}
OTHER_BOUND = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}
NO_CODE = (ast.Raise, ast.JoinedStr, ast.Assert)
"""Messages are no formulas, and places within an f-string are not known."""


@dataclass(frozen=True)
class Mutant:
    """The source of a file with one place changed."""

    line: int
    before: str
    after: str
    source: str


def nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All that is computed: no messages and no types."""
    for name, value in ast.iter_fields(tree):
        for node in value if isinstance(value, list) else [value]:
            if (
                isinstance(node, ast.AST)
                and not isinstance(node, NO_CODE)
                and name not in ("annotation", "returns", "decorator_list")
            ):
                yield node
                yield from nodes(node)


def changed(node: ast.AST, others: list[str]) -> ast.AST | None:
    """The node with one small fault, None where there is nothing to change; `others` are the variables beside it."""
    new = copy.deepcopy(node)
    match new:
        case ast.Compare(ops=[op]) if type(op) in OTHER_COMPARISON:
            new.ops = [OTHER_COMPARISON[type(op)]()]
        case ast.BinOp(op=op) if type(op) in OTHER_SIGN:
            new.op = OTHER_SIGN[type(op)]()
        case ast.Constant(value=float(value)) if value:
            new.value = value * 0.6
        case ast.Call(func=ast.Name(id=name)) if name in OTHER_BOUND:
            new.func.id = OTHER_BOUND[name]
        case ast.Call(func=ast.Attribute(attr=name)) if name in OTHER_BOUND:
            new.func.attr = OTHER_BOUND[name]
        case ast.Slice(upper=ast.Constant(value=int(end))):
            new.upper.value = end - 1
        case ast.UnaryOp(op=ast.Not()):
            return new.operand
        case ast.Return(value=ast.Name(id=name)) if [other for other in others if other != name]:
            new.value.id = next(other for other in reversed(others) if other != name)
        case _:
            return None
    return new


def sites(source: str) -> list[tuple[ast.AST, ast.AST]]:
    """The places that can be changed, each with what stands there instead."""
    found, others = [], list[str]()
    for node in nodes(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            others = [part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]
        if (new := changed(node, others)) is not None:
            found.append((node, new))
    return found


def mutant(source: str, node: ast.AST, new: ast.AST) -> Mutant:
    """The source with one node replaced; Python counts bytes."""
    lines = source.encode().splitlines(keepends=True)
    start = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset
    after = ast.unparse(new)
    text = after if isinstance(new, ast.Slice | ast.Return) else f"({after})"
    code = source.encode()
    return Mutant(node.lineno, code[start:end].decode(), after, (code[:start] + text.encode() + code[end:]).decode())


def tests_of(file: Path, tree: Path) -> list[str]:
    """The tests of the file's room, those first that import the file, then those that say its name."""
    module, words = ".".join(["fairalloc", *file.with_suffix("").parts]), (file.stem, file.stem.replace("_", "-"))

    def order(test: Path) -> tuple[bool, bool, str]:
        text = (tree / test).read_text()
        return f"{module} import" not in text, not any(word in text for word in words), str(test)

    found = (path.relative_to(tree) for path in (tree / "tests" / file.parts[0]).rglob("test_*.py"))
    return [str(test) for test in sorted(found, key=order)]


def fails(file: Path, tree: Path, timeout: float) -> bool:
    """Whether a test of the file's room fails, or they do not end."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-p", "no:cacheprovider", *tests_of(file, tree)]
    settings = os.environ | {"PYTHONPATH": str(tree), "CI": "true", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    try:
        code = subprocess.run(command, cwd=tree, env=settings, capture_output=True, timeout=timeout, check=False).returncode
    except subprocess.TimeoutExpired:
        return True
    if code not in (0, 1, 2):  # 2: they cannot be collected
        raise RuntimeError(f"the tests of {file.parts[0]} do not run: pytest ends with {code}")
    return code != 0


def killed(file: Path, one: Mutant, tree: Path, timeout: float) -> bool:
    """Whether the tests notice the mutant; the file of the copy is itself again afterwards."""
    before = (tree / file).read_text()
    (tree / file).write_text(one.source)
    try:
        return fails(file, tree, timeout)
    finally:
        (tree / file).write_text(before)


def main() -> None:
    parser = argparse.ArgumentParser(description="How many small faults of the core the quick tests see.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for the tests of one mutant")
    asked, survivors = parser.parse_args(), 0
    files = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")[:-1]
    places = [
        (Path(f), k)
        for f in files
        if f.endswith(".py") and f.startswith(ROOMS)
        for k in range(len(sites((ROOT / f).read_text())))
    ]
    drawn = random.Random(asked.seed).sample(places, asked.count)
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        subprocess.run(["cp", "-P", "--parents", *files, folder], cwd=ROOT, check=True)
        for room, file in {file.parts[0]: file for file, _ in drawn}.items():
            if fails(file, tree, asked.timeout):
                sys.exit(f"the tests of {room} fail before anything is changed")
        for number, (file, k) in enumerate(drawn, 1):
            source = (tree / file).read_text()
            one = mutant(source, *sites(source)[k])
            alive = not killed(file, one, tree, asked.timeout)
            survivors += alive
            print(f"{number} {'SURVIVES' if alive else 'killed'} {file}:{one.line}: {one.before!r} -> {one.after!r}", flush=True)
    print(f"{asked.count - survivors} of {asked.count} mutants killed ({1 - survivors / asked.count:.0%})")


if __name__ == "__main__":
    main()
