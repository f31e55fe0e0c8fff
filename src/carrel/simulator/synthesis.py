"""Traces made up: people who come by day and seldom at night or on a weekend, and run what people run."""

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
"""How often each is asked for, and what it is: much as presets are."""
_MEDIAN_S, _SPREAD, _LONGEST_S = 25 * 60, 1.7, 86400
"""Durations are log-normal: many are short, and a few take most of the time."""
_BURST = 0.08
"""How often somebody asks for many at once, as for a sweep of parameters."""
_START = datetime(2026, 1, 5, tzinfo=UTC)
"""A Monday."""
_BUSIEST = 2.5
"""The most that `_bustle` says."""


@dataclass(frozen=True)
class Habits:
    """per_day: how many times somebody asks on a working day, on average; some ask much more often than others."""

    users: int = 20
    days: float = 2
    per_day: float = 6
    domains: int = 2
    projects: int = 5


def synthesize(habits: Habits, seed: int) -> Iterator[TraceEntry]:
    """A trace by these habits, in order of arrival. Same seed, same trace."""
    random = Random(seed)
    people = [_path(number, habits) for number in range(habits.users)]
    eagerness = [1 / (rank + 1) ** 0.7 for rank in range(habits.users)]
    busiest_per_s = habits.users * habits.per_day / 86400 * _BUSIEST
    number, at_s = 0, 0.0
    while (at_s := at_s + random.expovariate(busiest_per_s)) < habits.days * 86400:
        # Thinning: of what would come at the busiest hour, as much as comes at this one.
        if random.random() > _bustle(at_s) / _BUSIEST:
            continue
        path = random.choices(people, eagerness)[0]
        slots = random.choices([slots for _, slots in _SIZES], [often for often, _ in _SIZES])[0]
        for _ in range(random.randint(4, 16) if random.random() < _BURST else 1):
            number += 1
            yield _arrival(random, number, at_s, path, slots)


def _bustle(at_s: float) -> float:
    """How busy it is then, 1 being the mean of a working day: most in the early afternoon, least before dawn."""
    hour, weekday = at_s / 3600 % 24, int(at_s // 86400) % 7
    day = max(1 + 1.5 * math.cos((hour - 14) / 24 * 2 * math.pi), 0.1)
    return day if weekday < 5 else day * 0.25


def _path(number: int, habits: Habits) -> Path:
    project = number % habits.projects
    return f"domain{project % habits.domains + 1}", f"project{project + 1}", f"user{number + 1:02}"


def _arrival(random: Random, number: int, at_s: float, path: Path, slots: dict[str, int]) -> TraceEntry:
    runs = timedelta(seconds=round(min(random.lognormvariate(math.log(_MEDIAN_S), _SPREAD), _LONGEST_S), 1))
    # Some say how long it may take, and say more than it will.
    limit = timedelta(hours=math.ceil(runs / timedelta(hours=1)) * 2) if random.random() < 0.3 else None
    return TraceEntry(
        SessionId(f"s{number:05}"), _START + timedelta(seconds=round(at_s, 1)), runs, slots, path, limit=limit
    )
