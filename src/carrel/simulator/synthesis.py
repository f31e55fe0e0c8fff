"""Synthetic traces: users who are active by day and rarely at night or on weekends, with a typical mix of sessions."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

from carrel.core.ids import SessionId
from carrel.simulator.traces import Path, TraceEntry

_GIB = 1 << 30
_SIZES = (
    (0.40, {"cpu": 1000, "mem": 2 * _GIB}),
    (0.25, {"cpu": 4000, "mem": 16 * _GIB}),
    (0.10, {"cpu": 16000, "mem": 64 * _GIB}),
    (0.12, {"cpu": 2000, "mem": 8 * _GIB, "cuda.shares": 250}),
    (0.10, {"cpu": 8000, "mem": 64 * _GIB, "cuda.device": 1}),
    (0.03, {"cpu": 32000, "mem": 256 * _GIB, "cuda.device": 4}),
)
"""Session types with their frequency, similar to presets."""
_MEDIAN_S, _SPREAD, _LONGEST_S = 25 * 60, 1.7, 86400
"""Durations are log-normal: many are short, and a few take most of the time."""
_BURST = 0.08
"""Frequency of requests for many sessions at once, such as parameter sweeps."""
_START = datetime(2026, 1, 5, tzinfo=UTC)
"""A Monday."""
_BUSIEST = 2.5
"""Maximum of `_bustle`."""


@dataclass(frozen=True)
class Habits:
    """per_day: mean number of requests of a user on a working day; some users are much more active than others."""

    users: int = 20
    days: float = 2
    per_day: float = 6
    domains: int = 2
    projects: int = 5


def synthesize(habits: Habits, seed: int) -> Iterator[TraceEntry]:
    """A trace with these habits, in order of arrival. Same seed, same trace."""
    random = Random(seed)
    users = [_path(number, habits) for number in range(habits.users)]
    eagerness = [1 / (rank + 1) ** 0.7 for rank in range(habits.users)]
    busiest_per_s = habits.users * habits.per_day / 86400 * _BUSIEST
    number, at_s = 0, 0.0
    while (at_s := at_s + random.expovariate(busiest_per_s)) < habits.days * 86400:
        # Thinning: accept candidates at the peak rate with the relative rate of their hour.
        if random.random() > _bustle(at_s) / _BUSIEST:
            continue
        path = random.choices(users, eagerness)[0]
        slots = random.choices([slots for _, slots in _SIZES], [often for often, _ in _SIZES])[0]
        for _ in range(random.randint(4, 16) if random.random() < _BURST else 1):
            number += 1
            yield _arrival(random, number, at_s, path, slots)


def _bustle(at_s: float) -> float:
    """Relative activity at a time, 1 on average of a working day: highest in the early afternoon, lowest before
    dawn.
    """
    hour, weekday = at_s / 3600 % 24, int(at_s // 86400) % 7
    day = max(1 + 1.5 * math.cos((hour - 14) / 24 * 2 * math.pi), 0.1)
    return day if weekday < 5 else day * 0.25


def _path(number: int, habits: Habits) -> Path:
    project = number % habits.projects
    return f"domain{project % habits.domains + 1}", f"project{project + 1}", f"user{number + 1:02}"


def _arrival(random: Random, number: int, at_s: float, path: Path, slots: dict[str, int]) -> TraceEntry:
    runs = timedelta(seconds=round(min(random.lognormvariate(math.log(_MEDIAN_S), _SPREAD), _LONGEST_S), 1))
    # Some users set a time limit, longer than needed.
    limit = timedelta(hours=math.ceil(runs / timedelta(hours=1)) * 2) if random.random() < 0.3 else None
    return TraceEntry(
        SessionId(f"s{number:05}"), _START + timedelta(seconds=round(at_s, 1)), runs, slots, path, limit=limit
    )
