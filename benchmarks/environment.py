"""The environment of a measurement: times are compared only where version, source, packages and machine are the same."""

import hashlib
import importlib
import importlib.metadata
import json
import os
import platform
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from fairalloc.solvers.method import Method

__all__ = ["describe", "identity"]

# The source that a time depends on. An edit elsewhere, as of the report or of a theorem, leaves old records comparable.
_MEASURED = (
    "fairalloc.models",
    "fairalloc.formulations",
    "fairalloc.solvers",
    "fairalloc.runs.processes",
    "fairalloc.runs.server",
    "fairalloc.benchmarks.worker",
)
_NOT_MEASURED = ("completion", "dev", "plots", "test")


def describe(solvers: ModuleType, own: Iterable[Method] = ()) -> dict[str, Any]:
    """Versions, machine and methods, with those of one's own, as written to the records; the machine's name only as a hash."""
    methods = (*solvers.METHODS.values(), *own)
    return {
        "fairalloc": _version("fairalloc"),
        "source": _source_hash(),
        "python": platform.python_version(),
        "packages": _packages(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "node": hashlib.sha256(platform.node().encode()).hexdigest()[:12],
        "methods": {m.id: {"kind": m.kind, "missing": m.missing(), "about": _about(m)} for m in methods},
    }


def identity(details: Mapping[str, Any]) -> str:
    """Short hash of the description."""
    return hashlib.sha256(json.dumps(details, sort_keys=True).encode()).hexdigest()[:12]


def _source_hash() -> str:
    digest = hashlib.sha256()
    for name in _MEASURED:
        for file in _files(importlib.import_module(name)):
            digest.update(name.encode() + file.name.encode() + file.read_bytes())
    return digest.hexdigest()[:12]


def _files(module: ModuleType) -> list[Path]:
    if not hasattr(module, "__path__"):
        return [Path(str(module.__file__))]
    return sorted(file for folder in module.__path__ for file in Path(folder).rglob("*.py"))


def _packages() -> dict[str, str]:
    """Installed versions of what the distribution requires, but for the extras that measure nothing."""
    versions = {}
    for line in importlib.metadata.requires("fairalloc") or []:
        extra = re.search(r"extra == ['\"](\w+)['\"]", line)
        name = re.split(r"[^\w.-]", line, maxsplit=1)[0]
        if extra is None or extra[1] not in _NOT_MEASURED:
            versions[name] = _version(name)
    return versions


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*: (.+)", info.read_text()) if info.exists() else None
    return found[1] if found else platform.processor() or "unknown"


def _about(method: object) -> str:
    """The first sentence of a method's own description."""
    return (method.__doc__ or "").strip().split("\n\n")[0].replace("\n", " ")
