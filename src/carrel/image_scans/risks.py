"""Numbers of vulnerabilities by what the rule of the installation can depend on."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from carrel.scanners.reports import Severity
from carrel.tables.image_scans import ImageReport


@dataclass(frozen=True, slots=True)
class Risk:
    """since: day (ISO) on which they were first found. epss_percent: rounded down; None: unknown."""

    severity: Severity
    since: str
    fixable: bool
    epss_percent: int | None


def written(vulnerabilities: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The column `ImageReport.risks` of the vulnerabilities of a stored report."""
    counts = Counter(
        Risk(
            Severity(one["severity"]),
            one["since"],
            bool(one["fixed"]),
            None if one["epss"] is None else int(one["epss"] * 100 + 1e-9),
        )
        for one in vulnerabilities
    )
    return [{**asdict(risk), "count": count} for risk, count in counts.items()]


def of(report: ImageReport) -> Iterator[tuple[Risk, int]]:
    """The risks, with the number of vulnerabilities of each. A report from before there were risks counts as if all
    could be fixed.
    """
    for one in report.risks:
        values = {**one, "severity": Severity(one["severity"])}
        count = values.pop("count")
        yield Risk(**values), count
    if not report.risks:
        for severity, by_day in report.first_found.items():
            for day, count in by_day.items():
                yield Risk(Severity(severity), day, True, None), count
