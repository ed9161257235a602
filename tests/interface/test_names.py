"""Names say one thing: no two classes have the same, file names occur at most twice, and folders can be read at a glance."""

import ast
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = sorted(path.parent.name for path in ROOT.glob("*/__init__.py"))


def classes(text):
    """The names of classes at module level, private ones too."""
    return [node.name for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]


def repeated(texts):
    """{name: paths} of class names that are defined more than once, for {path: text}."""
    places = defaultdict(list)
    for path, text in texts.items():
        for name in classes(text):
            places[name].append(path)
    return {name: found for name, found in places.items() if len(found) > 1}


def package():
    """{path: text} of all modules."""
    files = (file for room in ROOMS for file in (ROOT / room).rglob("*.py"))
    return {str(file.relative_to(ROOT)): file.read_text(encoding="utf-8") for file in files}


def test_a_class_name_is_used_once():
    assert repeated(package()) == {}


def test_a_class_name_that_is_used_twice_is_seen():
    nested = "x = 1\nclass Point(tuple):\n    class Inner: ...\n"
    texts = {"a.py": "class Point:\n    pass\n", "b.py": nested, "c.py": "class Inner: ..."}
    assert repeated(texts) == {"Point": ["a.py", "b.py"]}
    assert repeated({"a.py": "def Point(): ...\n", "b.py": "class Point: ...\n"}) == {}


def crowded(paths):
    """File names that occur more than twice, and folders that hold more than 15 files, among these paths."""
    files = [Path(path) for path in paths]
    names = Counter(file.name for file in files if file.name != "__init__.py")
    return {name for name, k in names.items() if k > 2} | {str(f) for f, k in Counter(x.parent for x in files).items() if k > 15}


def test_file_names_can_be_searched():
    """Larger folders have a file for each mechanism, suite or algorithm; theorems/ has files of one name for each paper."""
    names = crowded(path for path in package() if not path.startswith("theorems/"))
    assert names <= {"formulations", "benchmarks/suites", "solvers/game"}


def test_what_is_crowded_is_seen():
    assert crowded(["a/game.py", "b/game.py", "c/game.py", "a/nb.py", "b/nb.py", "a/__init__.py"]) == {"game.py"}
    assert crowded(f"models/m{k}.py" for k in range(16)) == {"models"}


def too_long(texts):
    """Files of more than 500 lines, in theorems/ 450, for {path: text}."""
    return {path for path, text in texts.items() if text.count("\n") > (450 if path.startswith("theorems/") else 500)}


def test_no_file_is_too_long():
    assert too_long(package()) == set()
    assert too_long({"a/b.py": 501 * "\n", "a/c.py": 500 * "\n", "theorems/d.py": 451 * "\n"}) == {"a/b.py", "theorems/d.py"}


def test_every_module_is_read():
    texts = package()
    assert {Path(path).parts[0] for path in texts} == set(ROOMS)
    assert "theorems/statement.py" in texts
