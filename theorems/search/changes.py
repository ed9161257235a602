"""What a run says otherwise than the record: another status, or a smaller case."""

from collections.abc import Iterator, Mapping

from fairalloc.theorems.cases import Draft
from fairalloc.theorems.search.steps import measure
from fairalloc.theorems.search.witnesses import WitnessRecord, on_record
from fairalloc.theorems.statement import Finding, Statement
from fairalloc.theorems.status import Status, described


def changes(statements: Mapping[str, Statement], findings: Mapping[str, Finding], record: WitnessRecord) -> Iterator[str]:
    """A sentence for each statement of which a finding says otherwise than the record."""
    for name, finding in findings.items():
        item = statements[name]
        known = on_record(item, record, again=False)
        less = (known.status, finding.status) == (Status.NOT_REFUTED, Status.NOT_DECIDED) and finding.trials < known.trials
        if less or not finding.finished:  # fewer cases say nothing else
            continue
        if name not in record.searched:
            yield f"{name}: {described(item, finding.status, finding.trials)}; not on record before"
        elif known.status != finding.status:
            said = described(item, known.status, known.trials)
            yield f"{name}: {said} on record, {finding.status} now ({finding.sentence})"
        elif (
            finding.verdict is not None
            and finding.case is not None
            and known.case is not None
            and measure(Draft.of(finding.case)) < measure(Draft.of(known.case))
        ):
            yield f"{name}: a smaller case than on record"
