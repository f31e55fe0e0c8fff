"""Metrics of a replay: waits, usage of each slot kind over time, and fairness over projects."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from carrel.core.units import Slots
from carrel.scheduling import devices
from carrel.scheduling.devices import Unit
from carrel.scheduling.requirements import Units
from carrel.simulator.fairness import jain
from carrel.simulator.installation import SimulatedInstallation
from carrel.simulator.simulate import Fate, Replay, Stay

BUCKETS = 120
_Floats = NDArray[np.float64]
_Changes = list[tuple[float, float]]


@dataclass(frozen=True)
class Waits:
    """In seconds, of started sessions. p95: 95th percentile."""

    mean_s: float
    median_s: float
    p95_s: float
    max_s: float


@dataclass(frozen=True)
class ProjectReport:
    """slot_seconds: allocated slots times duration.

    share: mean part of the installation that it held while it had pending sessions, in its dominant slot, divided by
    its weight; None when it was never pending.
    """

    project: str
    name: str
    domain: str
    weight: float
    sessions: int
    not_started: int
    waits: Waits | None
    slot_seconds: Mapping[str, float]
    share: float | None


@dataclass(frozen=True)
class Use:
    """Usage of a slot kind as a fraction of capacity. series: means over intervals of equal length."""

    capacity: int
    mean: float
    series: Sequence[float]


@dataclass(frozen=True)
class QueueLength:
    """Number of pending sessions."""

    mean: float
    max: int
    series: Sequence[float]


@dataclass(frozen=True)
class Fairness:
    """Jain's index over the projects.

    use: of the part of the installation that they held over the whole time, in their dominant slot, divided by their
    weight; shares: of their `share`; waits: of their mean waits.
    """

    use: float
    shares: float
    waits: float


@dataclass(frozen=True)
class Report:
    """makespan_s: from the first arrival to the last end. reasons: of sessions that did not start, with counts."""

    begins: datetime
    makespan_s: float
    bucket_s: float
    plans: int
    sessions: Mapping[str, int]
    reasons: Mapping[str, int]
    waits: Waits | None
    projects: Sequence[ProjectReport]
    utilisation: Mapping[str, Use]
    queue: QueueLength
    fairness: Fairness


def report(replay: Replay) -> Report:
    """The metrics of a replay of at least one session. Projects are sorted by name."""
    stays = replay.stays
    begins = min(stay.arrival.at for stay in stays)
    sweep = _Sweep(begins, stays, devices.units(replay.installation.nodes))
    capacity = _capacity(replay.installation)
    mine: defaultdict[tuple[str, str], list[Stay]] = defaultdict(list)
    for stay in stays:
        mine[stay.arrival.path[0], stay.arrival.path[1]].append(stay)
    projects = sorted(
        (_project(replay.installation, path, of, sweep, capacity) for path, of in mine.items()),
        key=lambda one: (one.name, one.project),
    )
    fates = Counter(stay.fate for stay in stays)
    edges = np.linspace(0.0, sweep.end_s, BUCKETS + 1)
    return Report(
        begins=begins,
        makespan_s=sweep.end_s,
        bucket_s=sweep.end_s / BUCKETS,
        plans=replay.plans,
        sessions={"all": len(stays), **{fate.value: fates[fate] for fate in Fate}},
        reasons=dict(Counter(stay.reason for stay in stays if stay.fate is not Fate.RAN).most_common()),
        waits=_waits(stays),
        projects=projects,
        utilisation={slot: _use(sweep, stays, slot, most, edges) for slot, most in sorted(capacity.items())},
        queue=_queue(sweep, stays, edges),
        fairness=Fairness(
            use=jain(
                max((one.slot_seconds[slot] / most for slot, most in capacity.items()), default=0.0)
                / one.weight
                for one in projects
            ),
            shares=jain(one.share for one in projects if one.share is not None),
            waits=jain(one.waits.mean_s for one in projects if one.waits),
        ),
    )


class _Sweep:
    """Time series on one grid of instants. Seconds from the first arrival."""

    def __init__(self, begins: datetime, stays: Sequence[Stay], units: Units) -> None:
        self._begins = begins
        self._units = units
        times = [each for stay in stays for each in (stay.arrival.at, stay.started or stay.until, stay.until)]
        self._grid = np.unique(np.array([self.second(at) for at in times]))
        self._lengths = np.diff(self._grid)
        self.end_s = float(self._grid[-1])

    def second(self, at: datetime) -> float:
        return (at - self._begins).total_seconds()

    def steps(self, changes: _Changes) -> _Floats:
        """The value from each instant of the grid to the next one."""
        deltas = np.zeros(len(self._grid))
        if changes:
            at, by = np.array(changes).T
            np.add.at(deltas, np.searchsorted(self._grid, at), by)
        return np.asarray(np.cumsum(deltas)[:-1])

    def integral(self, steps: _Floats) -> float:
        return float(steps @ self._lengths)

    def means(self, steps: _Floats, edges: _Floats) -> list[float]:
        """The mean of each interval between two edges."""
        if self.end_s == 0:
            return [0.0] * (len(edges) - 1)
        so_far = np.concatenate([[0.0], np.cumsum(steps * self._lengths)])
        return [
            round(float(one), 6)
            for one in np.diff(np.interp(edges, self._grid, so_far)) / (self.end_s / (len(edges) - 1))
        ]

    def held(self, stays: Iterable[Stay], slot: str) -> _Floats:
        """The amount of a measure held over time."""
        changes: _Changes = []
        for stay in stays:
            amount = measured(stay.arrival.slots, self._units).get(slot, 0) * len(stay.parts)
            if amount and stay.started:
                changes += [(self.second(stay.started), amount), (self.second(stay.until), -amount)]
        return self.steps(changes)

    def waiting(self, stays: Iterable[Stay]) -> _Floats:
        """The number of pending sessions over time."""
        changes: _Changes = []
        for stay in stays:
            changes += [
                (self.second(stay.arrival.at), 1.0),
                (self.second(stay.started or stay.until), -1.0),
            ]
        return self.steps(changes)


def measured(slots: Slots, units: Units) -> dict[str, int]:
    """Slots in comparable units: those of one family combined, in thousandths of devices, by the family's name."""
    amounts: dict[str, int] = {}
    for slot, amount in slots.items():
        unit = units.get(slot, Unit(slot, 1))
        amounts[unit.family] = amounts.get(unit.family, 0) + amount * unit.thousandths
    return amounts


def _capacity(installation: SimulatedInstallation) -> dict[str, int]:
    """Capacity of the open nodes.

    The slots of a family are alternative requests for the same devices, so only the one with the largest unit counts.
    """
    units = devices.units(installation.nodes)
    total: Counter[str] = Counter()
    for node in installation.nodes:
        if not node.closed:
            slots = sorted(node.capacity, key=lambda slot: units.get(slot, Unit("", 1)).thousandths)
            counted = {units.get(slot, Unit(slot, 1)).family: slot for slot in slots}
            total.update(measured({slot: node.capacity[slot] for slot in counted.values()}, units))
    return {slot: amount for slot, amount in total.items() if amount}


def _project(
    installation: SimulatedInstallation,
    path: tuple[str, str],
    stays: Sequence[Stay],
    sweep: _Sweep,
    capacity: Slots,
) -> ProjectReport:
    held = {slot: sweep.held(stays, slot) for slot in capacity}
    waiting = sweep.waiting(stays) > 0
    waited_s = sweep.integral(waiting.astype(np.float64))
    weight = installation.weight(stays[0].arrival.group, path)
    share = None
    if waited_s > 0:
        # Without an open node nothing is held.
        parts = [steps / capacity[slot] for slot, steps in held.items()] or [np.zeros(len(waiting))]
        share = sweep.integral(np.maximum.reduce(parts) * waiting) / waited_s / weight
    return ProjectReport(
        project=path[1],
        name=installation.names.get(path[1], path[1]),
        domain=installation.names.get(path[0], path[0]),
        weight=weight,
        sessions=len(stays),
        not_started=sum(stay.fate is not Fate.RAN for stay in stays),
        waits=_waits(stays),
        slot_seconds={slot: round(sweep.integral(steps), 3) for slot, steps in held.items()},
        share=share,
    )


def _waits(stays: Iterable[Stay]) -> Waits | None:
    """None when no session started."""
    waits = np.array([stay.waited.total_seconds() for stay in stays if stay.fate is Fate.RAN])
    if not len(waits):
        return None
    return Waits(
        mean_s=float(waits.mean()),
        median_s=float(np.median(waits)),
        p95_s=float(np.percentile(waits, 95, method="inverted_cdf")),
        max_s=float(waits.max()),
    )


def _use(sweep: _Sweep, stays: Sequence[Stay], slot: str, capacity: int, edges: _Floats) -> Use:
    used = sweep.held(stays, slot) / capacity
    return Use(capacity, sweep.integral(used) / (sweep.end_s or 1.0), sweep.means(used, edges))


def _queue(sweep: _Sweep, stays: Sequence[Stay], edges: _Floats) -> QueueLength:
    waiting = sweep.waiting(stays)
    longest = int(waiting.max()) if len(waiting) else 0
    return QueueLength(sweep.integral(waiting) / (sweep.end_s or 1.0), longest, sweep.means(waiting, edges))
