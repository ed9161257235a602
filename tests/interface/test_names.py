"""A class name says one thing: no two classes of the package have the same name."""

import ast
from collections import defaultdict
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


def test_every_module_is_read():
    texts = package()
    assert {Path(path).parts[0] for path in texts} == set(ROOMS)
    assert "theorems/statement.py" in texts
