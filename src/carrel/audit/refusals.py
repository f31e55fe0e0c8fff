"""Recording of refused requests: actor, action and reason.

Read requests are not recorded, except with an invalid keypair or token. Repeated refusals add only a count to the
table.
"""

import asyncio
from collections import Counter
from dataclasses import dataclass, field

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service
from carrel.core.errors import CarrelError, Unavailable
from carrel.db.database import Database
from carrel.permissions.decide import Actor, Target

log = structlog.get_logger()

WINDOW_S = 300.0
MOST = 20
MOST_STRANGERS = 50
_MOST_KINDS = 50
NOTED = (403, 404, 409, 422)
"""HTTP statuses of refusals."""

_Kind = tuple[str, str, str]
"""Action, object and code: repetitions add no information."""


@dataclass
class _Window:
    """Refusals of one user within WINDOW_S. more: number without a row of their own."""

    actor: Actor
    written: set[_Kind] = field(default_factory=set)
    more: Counter[_Kind] = field(default_factory=Counter)


@dataclass(frozen=True)
class Stranger:
    """The client of a request with an invalid keypair or token.

    credential: "keypair:<access key>" or "token:<id>" if known, otherwise only its kind, because the value may be a
    secret. email, target: of its owner.
    """

    credential: str
    reason: str
    address: str
    email: str = ""
    target: Target = service.NOBODY

    @property
    def key(self) -> str:
        """A credential may be used from many addresses; an attacker guesses many credentials from one."""
        return self.credential if ":" in self.credential else f"{self.credential} {self.address}"


@dataclass
class _Attempts:
    """first: the recorded attempt. more: number of unrecorded ones."""

    first: Stranger
    more: int = 0


class Refusals:
    """Records refusals; a flood of them results in one row."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._windows: dict[str, _Window] = {}
        self._strangers: dict[str, _Attempts] = {}

    async def note_stranger(self, stranger: Stranger) -> None:
        """Add a row to the access log for the first attempt within WINDOW_S by a credential or from an address.

        Others are only counted, and so are all beyond MOST_STRANGERS.
        """
        known = self._strangers.get(stranger.key)
        if known is None and len(self._strangers) > MOST_STRANGERS:
            known = self._strangers[""]
        if known:
            known.more += 1
            return
        if len(self._strangers) == MOST_STRANGERS:
            # The last counter is shared by all that have none of their own.
            crowd = Stranger("several", f"more than {MOST_STRANGERS} keypairs, tokens and addresses", "")
            self._strangers[""] = _Attempts(crowd, 1)
            return
        self._strangers[stranger.key] = _Attempts(stranger)
        try:
            async with self._database.transaction() as tx:
                _note_stranger(tx, stranger)
        except Unavailable:
            log.warning("audit.stranger_not_noted", credential=stranger.credential)

    async def note(self, actor: Actor, action: str, object_id: str, error: CarrelError) -> None:
        """Add a row in a transaction of its own; repeated or too frequent refusals are only counted.

        Other errors (an unavailable component, for example) are ignored.
        """
        if error.status not in NOTED:
            return
        window = self._windows.setdefault(actor.user_id, _Window(actor))
        kind = (action, object_id, error.code)
        if kind in window.written or len(window.written) >= MOST:
            window.more[kind if kind in window.more or len(window.more) < _MOST_KINDS else ("", "", "")] += 1
            return
        window.written.add(kind)
        try:
            async with self._database.transaction() as tx:
                service.record_refusal(tx, actor, action, object_id, reason=f"{error.code}: {error.message}")
        except Unavailable:
            log.warning("audit.refusal_not_noted", actor=actor.user_id, action=action, code=error.code)

    async def run(self) -> None:
        """Record the counted refusals at the end of each window, until cancelled."""
        try:
            while True:
                await asyncio.sleep(WINDOW_S)
                await self.close_window()
        finally:
            await self.close_window()

    async def close_window(self) -> None:
        """Write one row per user with counted refusals, then reset all counts."""
        windows, self._windows = self._windows, {}
        strangers, self._strangers = self._strangers, {}
        crowded = [window for window in windows.values() if window.more]
        persistent = [attempts for attempts in strangers.values() if attempts.more]
        if not crowded and not persistent:
            return
        try:
            async with self._database.transaction() as tx:
                for window in crowded:
                    _sum_up(tx, window)
                for attempts in persistent:
                    _note_stranger(tx, attempts.first, more=attempts.more)
        except Unavailable:
            log.warning("audit.refusals_not_noted", actors=len(crowded), strangers=len(persistent))


def _note_stranger(tx: AsyncSession, stranger: Stranger, *, more: int = 0) -> None:
    reason = stranger.reason
    if more:
        reason += f"; {more} more within {round(WINDOW_S / 60)} minutes"
    service.record_login(
        tx,
        email=stranger.email or "(unknown)",
        target=stranger.target,
        outcome="refused",
        method=stranger.credential,
        reason=reason,
        address=stranger.address,
    )


def _sum_up(tx: AsyncSession, window: _Window) -> None:
    (action, _, _), _ = window.more.most_common(1)[0]
    count = window.more.total()
    service.record_refusal(
        tx,
        window.actor,
        action or "auth.login",
        "",
        reason=f"audit.many: {count} more refusals within {round(WINDOW_S / 60)} minutes.",
        details={
            "refusals": [
                {"action": action, "object": object_id, "code": code, "times": times}
                for (action, object_id, code), times in window.more.most_common()
            ]
        },
    )
