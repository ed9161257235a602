"""The reports of the benchmarks on record, each a page of its own: python docs/tools/benchmark_reports.py build/extra/reports.

Each file of records in docs/records/*.tar.xz becomes the page that `fairalloc bench report` makes of it, with a link back.
"""

import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from fairalloc.benchmarks import report

RECORDS = Path(__file__).resolve().parents[1] / "records"

BACK = '<p><a href="../BENCHMARKS.html">Benchmarks</a></p>\n'


def record_names() -> Iterator[str]:
    """The names of the files of records, without their ending."""
    for archive in sorted(RECORDS.glob("*.tar.xz")):
        with tarfile.open(archive) as packed:
            yield from (Path(member.name).stem for member in packed if member.isfile())


def report_links() -> str:
    """What the page of the benchmarks ends with: a link to each report."""
    links = (f'<li><a href="reports/{name}.html">{name}</a></li>' for name in record_names())
    return f"\n## Reports\n\nThe whole report of each file of records, with its figures:\n\n<ul>{''.join(links)}</ul>\n"


def write(folder: Path) -> None:
    """Make the folder hold the report of every file of records."""
    folder.mkdir(parents=True, exist_ok=True)
    for archive in sorted(RECORDS.glob("*.tar.xz")):
        with TemporaryDirectory() as place, tarfile.open(archive) as packed:
            packed.extractall(place, filter="data")
            for file in sorted(Path(place).glob("*.sqlite")):
                page = folder / f"{file.stem}.html"
                report(file, page)
                page.write_text(with_way_back(page.read_text(encoding="utf-8")), encoding="utf-8")


def with_way_back(text: str) -> str:
    """The text of a report with a link to the page of the benchmarks above its heading."""
    return text.replace("<h1>", f"{BACK}<h1>", 1)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
