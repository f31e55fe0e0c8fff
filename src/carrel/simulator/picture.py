"""A report as an SVG chart: usage of each slot kind over time, number of pending sessions, and waits per project."""

from collections.abc import Iterable, Sequence
from html import escape

from carrel.core.units import format_duration
from carrel.simulator.report import ProjectReport, Report

_WIDTH, _LEFT, _RIGHT = 900, 110, 30
_PLOT = _WIDTH - _LEFT - _RIGHT
_TALL, _GAP, _BAR = 170, 70, 26
# Distinguishable with colour blindness. Source: M. Okabe, K. Ito, "Color Universal Design", 2008.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_STYLE = "text{font:13px system-ui,sans-serif;fill:#222}.t{font-weight:600;font-size:15px}.s{fill:#666;font-size:12px}"


def picture(report: Report, title: str) -> str:
    """The text of a self-contained SVG file."""
    top = 100
    parts = [_text(20, 30, title, "t"), _text(20, 50, _summary(report), "s")]
    parts += _use(report, top)
    top += _TALL + _GAP
    parts += _queue(report, top)
    top += _TALL + _GAP
    parts += _waits(report.projects, top)
    height = top + max(len(report.projects), 1) * _BAR + 20
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" '
        f'role="img"><title>{escape(title)}</title><style>{_STYLE}</style>'
        f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>{"".join(parts)}</svg>\n'
    )


def _summary(report: Report) -> str:
    waits = report.waits
    caption = f"{report.sessions['all']} sessions in {format_duration(report.makespan_s)}"
    if waits:
        caption += (
            f"; waits: mean {format_duration(waits.mean_s)}, 95 % within {format_duration(waits.p95_s)}"
        )
    fair = report.fairness
    return (
        f"{caption}; fairness of use {fair.use:.2f}, of shares {fair.shares:.2f}, of waits {fair.waits:.2f}"
    )


def _use(report: Report, top: int) -> Iterable[str]:
    yield _text(_LEFT, top - 10, "In use", "t")
    yield from _axes(report, top, "100 %", "0 %")
    for number, (slot, use) in enumerate(report.utilisation.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        yield _line(use.series, 1.0, top, colour)
        at = _LEFT + 80 + number * 190
        yield f'<rect x="{at}" y="{top - 20}" width="11" height="11" fill="{colour}"/>'
        yield _text(at + 17, top - 10, f"{slot} {use.mean:.0%} on average")


def _queue(report: Report, top: int) -> Iterable[str]:
    most = max([*report.queue.series, 1.0])
    yield _text(_LEFT, top - 10, "Waiting", "t")
    yield from _axes(report, top, f"{most:.0f}", "0")
    yield _line(report.queue.series, most, top, _COLOURS[0])


def _waits(projects: Sequence[ProjectReport], top: int) -> Iterable[str]:
    yield _text(_LEFT, top - 10, "Waits of each project: mean, and within which 95 % started (lighter)", "t")
    longest = max([one.waits.p95_s for one in projects if one.waits] + [1.0])
    room = _PLOT - 190
    for number, one in enumerate(projects):
        y = top + number * _BAR
        yield _text(_LEFT - 8, y + 15, one.name[:14], "e")
        if one.waits is None:
            yield _text(_LEFT, y + 15, "none started", "s")
            continue
        for wait, opacity in ((one.waits.p95_s, 0.35), (one.waits.mean_s, 1)):
            width = max(min(wait / longest, 1) * room, 1)
            yield (
                f'<rect x="{_LEFT}" y="{y + 3}" width="{width:.1f}" height="16" fill="{_COLOURS[0]}" '
                f'opacity="{opacity}"/>'
            )
        caption = f"{format_duration(one.waits.mean_s)}, {format_duration(one.waits.p95_s)}"
        yield _text(
            int(_LEFT + max(one.waits.p95_s, one.waits.mean_s) / longest * room) + 8, y + 15, caption, "s"
        )


def _axes(report: Report, top: int, high: str, low: str) -> Iterable[str]:
    bottom = top + _TALL
    yield f'<path d="M{_LEFT},{top}V{bottom}H{_LEFT + _PLOT}" fill="none" stroke="#999"/>'
    yield _text(_LEFT - 8, top + 10, high, "e")
    yield _text(_LEFT - 8, bottom, low, "e")
    for part in range(5):
        x = _LEFT + part * _PLOT // 4
        yield f'<path d="M{x},{bottom}v4" stroke="#999"/>'
        yield _text(x - 12, bottom + 18, format_duration(report.makespan_s * part / 4), "s")


def _line(series: Sequence[float], most: float, top: int, colour: str) -> str:
    wide = _PLOT / len(series)
    points = []
    for number, value in enumerate(series):
        y = top + _TALL * (1 - min(value / most, 1.0))
        points += [f"{_LEFT + number * wide:.1f},{y:.1f}", f"{_LEFT + (number + 1) * wide:.1f},{y:.1f}"]
    return f'<polyline points="{" ".join(points)}" fill="none" stroke="{colour}" stroke-width="1.6"/>'


def _text(x: int, y: int, text: str, style: str = "") -> str:
    """style e: right-aligned at x."""
    how = ' text-anchor="end"' if style == "e" else f' class="{style}"' if style else ""
    return f'<text x="{x}" y="{y}"{how}>{escape(text)}</text>'
