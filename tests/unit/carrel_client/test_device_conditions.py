"""The condition of accelerators in words of the command line."""

from typing import Any

import pytest
from carrel_client.cli.device_conditions import condition_text
from carrel_client.cli.times import local_time

AT = "2026-01-01T12:00:00Z"
UNKNOWN: dict[str, Any] = dict.fromkeys(
    (
        "utilization_percent",
        "mem_used_bytes",
        "mem_total_bytes",
        "temperature_c",
        "power_w",
        "uncorrected_errors",
        "measured_at",
    )
)


@pytest.mark.parametrize(
    ("healthy", "problem", "metrics", "text"),
    [
        (True, "", {}, ""),
        (
            True,
            "",
            {
                "utilization_percent": 79.6,
                "mem_used_bytes": 10 << 30,
                "mem_total_bytes": 80 << 30,
                "temperature_c": 61.4,
                "power_w": 300.2,
                "uncorrected_errors": 0,
                "measured_at": AT,
            },
            ", 80 % utilized, 10 GiB of 80 GiB of memory, 61 °C, 300 W",
        ),
        (
            True,
            "",
            {"utilization_percent": 0, "mem_used_bytes": 0, "measured_at": AT},
            ", 0 % utilized, 0 B of memory",
        ),
        (False, "It fell off the bus.", {}, ", unhealthy: It fell off the bus"),
        (
            False,
            "It is hot.",
            {"uncorrected_errors": 3, "measured_at": AT},
            ", unhealthy: It is hot, 3 uncorrected errors",
        ),
        (True, "It is hot.", {}, ", problem: It is hot"),
        (True, "", {"measured_at": AT}, f", last measured {local_time(AT)}"),
    ],
    ids=[
        "not measured",
        "measured",
        "idle",
        "unhealthy",
        "with errors",
        "healthy until the next readings",
        "old",
    ],
)
def test_a_device_shows_its_condition_and_what_is_known(
    healthy: bool, problem: str, metrics: dict[str, Any], text: str
) -> None:
    device: Any = {"healthy": healthy, "problem": problem, "metrics": UNKNOWN | metrics}
    assert condition_text(device) == text
