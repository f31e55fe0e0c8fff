"""Who may enter which session by SSH: by a registered key, a certificate, or a request that the API authenticated.

Rights are looked up when a connection first uses its session, and again for all open connections: at once when a
session, a share or a credential changes, and every two seconds.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import structlog
from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.apps.denials import not_running
from carrel.core.clock import Clock
from carrel.core.errors import CarrelError, Forbidden, NotFound, Unavailable
from carrel.core.ids import ContainerId, SessionId, UserId
from carrel.db.database import Database
from carrel.db.listener import Listener
from carrel.permissions.decide import Actor
from carrel.sessions import announcements, containers
from carrel.sessions.visibility import usable_as_text
from carrel.signin.logins import authenticator
from carrel.signin.logins.service import allowed_from
from carrel.tables.keypairs import SshKey
from carrel.tables.session_shares import TOPIC as SHARES_CHANGED
from carrel.tables.session_states import SessionState
from carrel.tables.sessions import Session
from carrel.tables.tenancy import User
from carrel.tenancy.service import actor_of

log = structlog.get_logger()

RECHECK_S = 2.0
ACTION = "session.exec"
_SCOPES = ("session.exec", "session.read")
_ENDS = (SessionState.TERMINATING, SessionState.TERMINATED, SessionState.STARTING, SessionState.ERROR)

_PERMITTED = text(f"""
    SELECT w.number
    FROM unnest(CAST(:numbers AS int[]), CAST(:sessions AS text[]), CAST(:users AS text[]),
        CAST(:keys AS text[]), CAST(:credentials AS text[])) AS w(number, session_id, user_id, key_id, credential)
    JOIN sessions s ON s.id = w.session_id AND s.state = 'RUNNING'
    JOIN users u ON u.id = w.user_id AND u.state = 'active'
    JOIN domains d ON d.id = u.domain_id AND d.active
    WHERE {usable_as_text("s", "w.user_id")} AND (
        EXISTS (SELECT FROM ssh_keys k WHERE k.id = w.key_id AND k.user_id = u.id)
        OR EXISTS (SELECT FROM keypairs k WHERE k.active AND k.user_id = u.id
            AND 'keypair:' || k.access_key || ':' || encode(substr(k.secret_hash, 1, 8), 'hex') = w.credential)
        OR EXISTS (SELECT FROM tokens t WHERE 'token:' || t.id = w.credential AND t.user_id = u.id
            AND (t.expires_at IS NULL OR t.expires_at > :now))
        OR EXISTS (SELECT FROM logins l WHERE 'login:' || l.public_id = w.credential AND l.user_id = u.id
            AND l.expires_at > :now))
""")  # noqa: S608 - no input in it


@dataclass(frozen=True)
class SshProof:
    """What a client proved: to be this user, by their key with this id, or by a credential of the API, as
    `ssh_certificates.credential_of` has it. entrance: the only session that it opens, instead of the user name's.
    """

    user: UserId
    key: str = ""
    credential: str = ""
    entrance: str = ""


@dataclass(frozen=True)
class Entrance:
    """A permitted way into a container. address: None if it can be reached only through its engine."""

    proof: SshProof
    actor: Actor
    session: Session
    container: ContainerId
    address: str | None
    shell: str


Cut = Callable[[], None]
"""Closes a connection whose access has ended."""


class SshAccess:
    """Looks up keys, sessions and rights."""

    def __init__(self, database: Database, clock: Clock, listener: Listener) -> None:
        self._database = database
        self._clock = clock
        self._open: dict[int, tuple[SshProof, SessionId, Cut]] = {}
        self._count = 0
        self._due = asyncio.Event()
        for topic in (*map(announcements.topic, _ENDS), SHARES_CHANGED, authenticator.TOPIC):
            listener.subscribe(topic, self._due.set)

    async def by_key(self, fingerprint: str) -> list[SshProof]:
        """Those who registered this key, if they may sign in; several may have the same. Raises: Unavailable."""
        keys = select(SshKey.user_id, SshKey.id).join(User, User.id == SshKey.user_id)
        async with self._database.transaction() as tx:
            rows = await tx.execute(keys.where(SshKey.fingerprint == fingerprint, User.active))
            return [SshProof(user, key=key) for user, key in rows]

    async def enter(self, proofs: Sequence[SshProof], ref: str, address: str) -> Entrance:
        """The entrance of the first who may use the session. ref: as the user name of SSH has it.

        Anybody can register a public key, so that a name could lead its owner into the session of somebody else: of
        several users with the key, only a full id decides. Raises: CarrelError.
        """
        refused: CarrelError = Forbidden("ssh.not_permitted", "These credentials open no session any more.")
        ambiguous = False
        async with self._database.transaction() as tx:
            for proof in proofs:
                try:
                    entrance = await self._entrance(tx, proof, ref, address)
                except CarrelError as error:
                    refused = error
                    continue
                if len(proofs) == 1 or ref.startswith(entrance.session.id):
                    return entrance
                ambiguous = True
        if ambiguous:
            raise Forbidden(
                "ssh.ambiguous_key",
                "Several accounts have registered this key.",
                hint="Use the session's full id as the user name, or carrel ssh-cert.",
            )
        raise refused

    async def note(self, entrance: Entrance, details: dict[str, object]) -> None:
        """Add an audit entry for what starts in the session. Raises: Unavailable."""
        from carrel.sessions import service as sessions  # loads numpy

        async with self._database.transaction() as tx:
            sessions.note(tx, entrance.actor, ACTION, entrance.session, details=details)

    @contextmanager
    def watching(self, entrance: Entrance, cut: Cut) -> Iterator[None]:
        """Within the block, `cut` is called when the access ends."""
        self._count += 1
        number = self._count
        self._open[number] = entrance.proof, entrance.session.id, cut
        try:
            yield
        finally:
            self._open.pop(number, None)

    async def watch(self) -> None:
        """Check open connections until cancelled."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(RECHECK_S):
                    await self._due.wait()
            self._due.clear()
            try:
                await self._recheck()
            except Unavailable:
                log.warning("ssh.recheck_failed", connections=len(self._open))
            except Exception:
                # Without these checks nothing would end when its right does.
                log.exception("ssh.recheck_failed", connections=len(self._open))

    async def _recheck(self) -> None:
        if not self._open:
            return
        checked = dict(self._open)
        async with self._database.transaction() as tx:
            held = await self._permitted(
                tx, [(number, proof, session) for number, (proof, session, _) in checked.items()]
            )
        ended = checked.keys() - held
        for number in ended:
            try:
                checked[number][2]()
            except Exception:
                log.exception("ssh.cut_failed")
        if ended:
            log.info("ssh.access_ended", connections=len(ended))

    async def _permitted(
        self, tx: AsyncSession, asked: Sequence[tuple[int, SshProof, SessionId]]
    ) -> set[int]:
        bound = {
            "numbers": [number for number, _, _ in asked],
            "sessions": [session for _, _, session in asked],
            "users": [proof.user for _, proof, _ in asked],
            "keys": [proof.key for _, proof, _ in asked],
            "credentials": [proof.credential for _, proof, _ in asked],
            "now": self._clock.now(),
        }
        return set((await tx.execute(_PERMITTED, bound)).scalars())

    async def _entrance(self, tx: AsyncSession, proof: SshProof, ref: str, address: str) -> Entrance:

        user = await tx.get(User, proof.user)
        if user is None or not user.active or not allowed_from(user, address):
            raise Forbidden("ssh.not_permitted", "Your account cannot be used from here.")
        credential = f"ssh-key:{proof.key}" if proof.key else ":".join(proof.credential.split(":")[:2])
        actor = await actor_of(tx, user, credential=credential, address=address)
        actor = Actor(**{**vars(actor), "scopes": _SCOPES})
        session, name = await _session_of(tx, actor, proof.entrance or ref)
        if session.state != SessionState.RUNNING:
            raise not_running(session)
        if not await self._permitted(tx, [(0, proof, session.id)]):
            raise Forbidden("ssh.not_permitted", "These credentials open no session any more.")
        inside = await containers.named(tx, session, name)
        shell = str(user.preferences.get("shell") or "")
        return Entrance(proof, actor, session, inside.id, inside.address, shell)


async def _session_of(tx: AsyncSession, actor: Actor, ref: str) -> tuple[Session, str | None]:
    """The session and the name of a container of it: SESSION, SESSION+CONTAINER or SESSION.CONTAINER.

    Raises: NotFound, Forbidden, Conflict.
    """
    from carrel.sessions import service as sessions  # loads numpy

    whole, _, name = ref.partition("+")
    try:
        return await sessions.find(tx, actor, whole, ACTION), name or None
    except NotFound:
        session, dot, container = ref.rpartition(".")
        if not dot:
            raise
        return await sessions.find(tx, actor, session, ACTION), container
