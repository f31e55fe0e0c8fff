"""Print the report of a replay: figures, a table of projects, and usage over time as bars."""

from __future__ import annotations

import sys
from dataclasses import asdict

from carrel_client.cli.output import Column, print_facts, print_line, print_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.simulator.report import Report, Waits

_BARS, _PLAIN = "▁▂▃▄▅▆▇█", "_.-=+*%#"
_STRETCHES = 40


def as_json(report: Report) -> dict[str, object]:
    """The full report, for JSON."""
    return {**asdict(report), "begins": report.begins.isoformat()}


def print_report(report: Report) -> None:
    """Print the report."""
    from carrel.core.units import format_duration

    fates = {fate: count for fate, count in report.sessions.items() if fate != "all" and count}
    summary = ", ".join(f"{count} {fate.replace('_', ' ')}" for fate, count in fates.items())
    mean, median, p95, longest = _waits(report.waits)
    print_facts(
        [
            ("sessions", f"{report.sessions['all']}: {summary}"),
            ("from first to last", format_duration(report.makespan_s)),
            ("waits", f"mean {mean}, median {median}, 95 % within {p95}, longest {longest}"),
            ("waiting at once", f"{report.queue.mean:.1f} on average, {report.queue.max} at most"),
            ("fairness of use", f"{report.fairness.use:.3f}"),
            ("of shares while waiting", f"{report.fairness.shares:.3f}"),
            ("of mean waits", f"{report.fairness.waits:.3f}"),
            ("plans", str(report.plans)),
        ]
    )
    print_line("")
    _print_use(report)
    print_line("")
    _print_projects(report)
    for reason, count in report.reasons.items():
        print_line(f"{count} did not start: {reason}")


def _print_use(report: Report) -> None:
    rows = [[slot, f"{use.mean:.1%}", _bars(use.series, 1.0)] for slot, use in report.utilisation.items()]
    rows.append(["waiting", f"{report.queue.mean:.1f}", _bars(report.queue.series, report.queue.max)])
    print_table([Column("IN USE"), Column("MEAN"), Column("OVER TIME")], rows)


def _print_projects(report: Report) -> None:
    columns = [Column(title) for title in ("PROJECT", "DOMAIN", "WEIGHT", "SESSIONS", "NOT STARTED")]
    columns += [Column(title) for title in ("MEAN WAIT", "MEDIAN", "95 %", "LONGEST", "SHARE WHILE WAITING")]
    rows = [
        [
            one.name,
            one.domain,
            f"{one.weight:g}",
            str(one.sessions),
            str(one.not_started or ""),
            *_waits(one.waits),
            "" if one.share is None else f"{one.share:.1%}",
        ]
        for one in report.projects
    ]
    print_table(columns, rows)


def _waits(waits: Waits | None) -> tuple[str, str, str, str]:
    from carrel.core.units import format_duration

    if waits is None:
        return ("-", "-", "-", "-")
    mean, median, p95, longest = map(
        format_duration, (waits.mean_s, waits.median_s, waits.p95_s, waits.max_s)
    )
    return mean, median, p95, longest


def _bars(series: Sequence[float], most: float) -> str:
    signs = _BARS if (sys.stdout.encoding or "").lower().startswith("utf") else _PLAIN
    width = len(series) // _STRETCHES
    means = [sum(series[at : at + width]) / width for at in range(0, len(series), width)]
    top = most or 1.0
    return "".join(signs[min(int(mean / top * len(signs)), len(signs) - 1)] for mean in means)
