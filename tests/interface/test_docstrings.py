"""Exported functions with three or more arguments describe them; a method that overrides another one relies on its text."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("models", "formulations", "solvers", "analysis", "runs", "simulation", "theorems", "benchmarks", "fairalloc")
MANY = 3

COPIED = ROOT / "theorems" / "standalone"
"""What standalone scripts repeat: the head of definitions.py describes the data, by whose names all arguments are called."""


def exported(trees):
    """What the `__init__.py` of some room lists in `__all__`."""
    found = set()
    for tree in trees:
        for node in tree.body:
            if isinstance(node, ast.Assign | ast.AugAssign) and ast.unparse(node).startswith("__all__ "):
                found |= {part.value for part in ast.walk(node.value) if isinstance(part, ast.Constant)}
    return found


def silent(tree, public):
    """(class or "", function) of the exported functions without "Parameters", with their classes' bases unresolved."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name in public:
            yield from [("", node.name)] * needs(node)
        if isinstance(node, ast.ClassDef) and node.name in public:
            yield from [(node.name, part.name) for part in node.body if isinstance(part, ast.FunctionDef) and needs(part)]


def needs(function):
    """Whether the function is public, has three or more arguments, and no section "Parameters"."""
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    count = sum(argument.arg not in ("self", "cls") for argument in arguments)
    text = ast.get_docstring(function) or ""
    repeated = any(isinstance(mark, ast.Call) and ast.unparse(mark.func) == "argument" for mark in function.decorator_list)
    return not (function.name.startswith("_") or repeated) and count >= MANY and "Parameters\n---" not in text


def described(trees):
    """The names of methods that some class describes."""
    classes = [node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)]
    parts = [part for node in classes for part in node.body if isinstance(part, ast.FunctionDef)]
    return {part.name for part in parts if "Parameters\n---" in (ast.get_docstring(part) or "")}


def files():
    found = sorted(file for room in ROOMS for file in (ROOT / room).rglob("*.py") if not file.is_symlink())
    return [file for file in found if file != COPIED / "definitions.py"]


def test_public_functions_describe_their_arguments():
    trees = {file: ast.parse(file.read_text()) for file in files() if file.resolve() == file}
    known = described(trees.values())
    public = exported(tree for file, tree in trees.items() if file.name == "__init__.py")
    assert len(public) > 100
    missing = [
        f"{file.relative_to(ROOT)}: {owner}.{name}" if owner else f"{file.relative_to(ROOT)}: {name}"
        for file, tree in trees.items()
        for owner, name in silent(tree, public)
        if not (owner and name in known)
    ]
    assert missing == []


def test_a_silent_function_is_seen():
    tree = ast.parse("def f(a, b, c):\n    '''Nothing of a, b and c.'''\n\n\nclass C:\n    def g(self, a, b, c): ...\n")
    assert list(silent(tree, {"f", "C"})) == [("", "f"), ("C", "g")]
    assert list(silent(tree, {"f"})) == [("", "f")]
    assert list(silent(ast.parse("def f(a, b): ...\n\n\ndef _g(a, b, c): ...\n"), {"f", "_g"})) == []
    assert exported([ast.parse("__all__ = ['f', 'C']\n__all__ += ['g']")]) == {"f", "C", "g"}
