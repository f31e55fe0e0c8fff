"""The condition of accelerators, as text."""

from __future__ import annotations

from carrel_client.cli.times import local_time
from carrel_client.units import format_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models


def condition_text(device: models.DeviceView) -> str:
    """What comes behind its name: health, problem and measurements; empty if it is healthy and not measured."""
    problem = device["problem"].rstrip(".")
    condition = problem and f"problem: {problem}"
    if not device["healthy"]:
        condition = f"unhealthy: {problem}"
    parts = [condition, *_measured(device["metrics"])]
    return "".join(f", {part}" for part in parts if part)


def _measured(metrics: models.DeviceMetricsView) -> list[str]:
    used, size = metrics["mem_used_bytes"], metrics["mem_total_bytes"]
    errors = metrics["uncorrected_errors"]
    known = [
        _number(metrics["utilization_percent"], "% utilized"),
        "" if used is None else f"{format_size(used)}{f' of {format_size(size)}' if size else ''} of memory",
        _number(metrics["temperature_c"], "°C"),
        _number(metrics["power_w"], "W"),
        f"{errors} uncorrected errors" if errors else "",
    ]
    if metrics["measured_at"] and not any(known):
        return [f"last measured {local_time(metrics['measured_at'])}"]
    return known


def _number(value: float | None, unit: str) -> str:
    return "" if value is None else f"{round(value)} {unit}"
