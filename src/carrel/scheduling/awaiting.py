"""Which pending sessions wait for the end of which others, while sessions end one after the other."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from carrel.core.ids import SessionId
from carrel.scheduling.snapshot import Awaited, PendingSession, RunningSession, Snapshot


class Awaiting:
    """Starts from the sessions of a snapshot. One that it does not have has ended."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._live = Counter(key for one in _sessions(snapshot) for key in _fulfilled_by(one))
        self._after = {
            one.id: {key for key in one.after if self._live[key]} for one in snapshot.waiting if one.after
        }
        self._before: defaultdict[Awaited, list[SessionId]] = defaultdict(list)
        for session, keys in self._after.items():
            for key in keys:
                self._before[key].append(session)

    def free(self) -> Iterable[SessionId]:
        """Those that wait for nothing any more, though the snapshot says so."""
        return [session for session, keys in self._after.items() if not keys]

    def end(self, ended: RunningSession) -> Iterator[SessionId]:
        """The sessions that wait for nothing any more now that this one has ended."""
        for key in _fulfilled_by(ended):
            self._live[key] -= 1
            if not self._live[key]:
                for session in self._before.pop(key, ()):
                    self._after[session].discard(key)
                    if not self._after[session]:
                        yield session


def _sessions(snapshot: Snapshot) -> Iterator[PendingSession | RunningSession]:
    yield from snapshot.running
    yield from snapshot.waiting


def _fulfilled_by(one: PendingSession | RunningSession) -> Iterator[Awaited]:
    yield Awaited(one.id)
    if one.array:
        yield Awaited(one.array, array=True)


def without_limit(snapshot: Snapshot, one: PendingSession) -> tuple[Awaited, bool] | None:
    """Which of those that the session waits for has no time limit, and True; or waits for such a session itself, and
    False. None: all have one.
    """
    members: defaultdict[Awaited, list[PendingSession | RunningSession]] = defaultdict(list)
    for other in _sessions(snapshot):
        for key in _fulfilled_by(other):
            members[key].append(other)
    seen: set[Awaited] = set()

    def reaches(keys: Iterable[Awaited]) -> bool:
        """Whether any of them has no limit, or waits for one that has none."""
        todo = list(keys)
        while todo:
            key = todo.pop()
            if key not in seen:
                seen.add(key)
                if any(_is_endless(other) for other in members[key]):
                    return True
                todo += {before for other in members[key] for before in _after(other)}
        return False

    keys = sorted(one.after, key=lambda key: (key.id, key.array))
    for key in keys:
        if any(_is_endless(other) for other in members[key]):
            return key, True
    return next(((key, False) for key in keys if reaches([key])), None)


def _is_endless(one: PendingSession | RunningSession) -> bool:
    return (one.lasts if isinstance(one, PendingSession) else one.ends) is None


def _after(one: PendingSession | RunningSession) -> frozenset[Awaited]:
    return one.after if isinstance(one, PendingSession) else frozenset()
