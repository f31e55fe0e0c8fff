"""Use cases of people: founding the installation, signing in and out, keypairs, who is asking."""

import base64
import binascii
import hashlib
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy import case, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import CarrelError, NotFound, Unauthorized
from carrel.core.ids import DomainId, ProjectId, UserId, new_id
from carrel.db.database import Database
from carrel.policy.actions import Role
from carrel.policy.decide import Actor
from carrel.tenancy.model import Domain, Keypair, Login, LoginAttempts, Membership, Project, User
from carrel.tenancy.passwords import hash_password, password_matches

LOGIN_LIFETIME = timedelta(days=14)
MAX_ATTEMPTS = 10
LOCK_TIME = timedelta(minutes=20)
_CACHE_S = 5.0
_CACHE_SIZE = 2000


_LookUp = Callable[[AsyncSession], Awaitable["Credential | None"]]


class TooManyAttempts(CarrelError):
    status = 429


@dataclass(frozen=True)
class Credential:
    """A proven identity. csrf_token: what unsafe requests must repeat; None when no cookie is involved."""

    actor: Actor
    csrf_token: str | None


@dataclass(frozen=True)
class NewKeypair:
    """secret_key is shown this once; only its hash is kept."""

    access_key: str
    secret_key: str
    created_at: datetime


async def found(tx: AsyncSession, *, email: str, password: str) -> bool:
    """Make the first domain, project and superadmin. False when the installation already has users."""
    if (await tx.execute(select(func.count()).select_from(User))).scalar_one():
        return False
    domain = Domain(id=DomainId(new_id()), name="default")
    project = Project(id=ProjectId(new_id()), domain_id=domain.id, name="default")
    tx.add(domain)
    await tx.flush()
    tx.add(project)
    await tx.flush()
    await create_user(
        tx, email=email, name="Administrator", password=password, role=Role.SUPERADMIN,
        domain_id=domain.id, projects=[project.id],
    )  # fmt: skip
    return True


async def create_user(
    tx: AsyncSession,
    *,
    email: str,
    name: str,
    password: str,
    role: Role,
    domain_id: DomainId,
    projects: list[ProjectId],
) -> UserId:
    """Add a person to a domain and to some of its projects."""
    user = User(
        id=UserId(new_id()),
        domain_id=domain_id,
        email=email,
        name=name,
        role=role,
        password_hash=await hash_password(password),
    )
    tx.add(user)
    await tx.flush()
    tx.add_all(Membership(project_id=project, user_id=user.id) for project in projects)
    await tx.flush()
    return user.id


async def set_password(tx: AsyncSession, *, email: str, password: str) -> None:
    """Give a user another password and end all sign-ins. Raises: NotFound."""
    user = await _user_by_email(tx, email)
    if user is None:
        raise NotFound("user.not_found", f"There is no user with the e-mail {email}.")
    user.password_hash = await hash_password(password)
    await _forget_attempts(tx, email)
    await tx.execute(delete(Login).where(Login.user_id == user.id))


async def sign_in(
    database: Database, clock: Clock, *, email: str, password: str, address: str, device: str
) -> str:
    """The token for the cookie of a new sign-in.

    Raises: Unauthorized for a wrong e-mail or password (not telling which), TooManyAttempts when locked.
    """
    now = clock.now()
    # 1. count it before looking at the password, so that many at once are no way around the lock
    async with database.transaction() as tx:
        await _count_attempt(tx, email, now)
        user = await _user_by_email(tx, email)
    # 2. look at the password, for as long as ever when there is no such user
    matches = await password_matches(user.password_hash if user else None, password)
    # 3. let them in, or not
    async with database.transaction() as tx:
        token = None
        if user is not None and matches and user.active:
            await _forget_attempts(tx, email)
            token = await _open_login(tx, user, now, address=address, device=device)
        audit.record_login(
            tx, email=email, user_id=user.id if user else None, outcome="done" if token else "refused",
            address=address,
        )  # fmt: skip
    if token is None:
        raise Unauthorized("auth.bad_credentials", "E-mail or password is wrong.")
    return token


async def _count_attempt(tx: AsyncSession, email: str, now: datetime) -> None:
    """Raises: TooManyAttempts, the same for an e-mail that nobody has."""
    await tx.execute(delete(LoginAttempts).where(LoginAttempts.at < now - LOCK_TIME))
    before = LoginAttempts.tries
    counted = (
        await tx.execute(
            insert(LoginAttempts)
            .values(email_hash=_email_digest(email), tries=1, at=now)
            .on_conflict_do_update(
                index_elements=[LoginAttempts.email_hash],
                set_={
                    "tries": func.least(before + 1, MAX_ATTEMPTS + 1),
                    "at": case((before < MAX_ATTEMPTS, now), else_=LoginAttempts.at),
                },
            )
            .returning(LoginAttempts.tries, LoginAttempts.at)
        )
    ).one()
    if counted.tries > MAX_ATTEMPTS:
        wait = counted.at + LOCK_TIME - now
        raise TooManyAttempts(
            "auth.locked",
            "Too many failed attempts; signing in is locked for a while.",
            hint="Wait twenty minutes, or ask an administrator.",
            details={"retry_after_s": max(1, round(wait.total_seconds()))},
        )


async def _forget_attempts(tx: AsyncSession, email: str) -> None:
    await tx.execute(delete(LoginAttempts).where(LoginAttempts.email_hash == _email_digest(email)))


async def _open_login(tx: AsyncSession, user: User, now: datetime, *, address: str, device: str) -> str:
    token = secrets.token_urlsafe(32)
    await tx.execute(delete(Login).where(Login.user_id == user.id, Login.expires_at < now))
    tx.add(
        Login(
            id=_digest(token),
            user_id=user.id,
            csrf_token=secrets.token_urlsafe(24),
            address=address,
            device=device[:200],
            created_at=now,
            expires_at=now + LOGIN_LIFETIME,
        )
    )
    return token


async def create_keypair(tx: AsyncSession, clock: Clock, actor: Actor) -> NewKeypair:
    """A keypair for scripts, owned by the actor."""
    made = NewKeypair(
        access_key="CK" + secrets.token_hex(9).upper(),
        secret_key=secrets.token_urlsafe(32),
        created_at=clock.now(),
    )
    tx.add(
        Keypair(
            access_key=made.access_key,
            user_id=actor.user_id,
            secret_hash=_digest(made.secret_key),
            created_at=made.created_at,
        )
    )
    audit.record(tx, actor, "keypair.create", made.access_key)
    return made


async def list_keypairs(tx: AsyncSession, actor: Actor) -> list[Keypair]:
    """The actor's keypairs, newest first."""
    rows = await tx.execute(
        select(Keypair).where(Keypair.user_id == actor.user_id).order_by(Keypair.created_at.desc())
    )
    return list(rows.scalars())


async def remove_keypair(tx: AsyncSession, actor: Actor, access_key: str) -> None:
    """Remove one of the actor's keypairs. Raises: NotFound."""
    gone = await tx.execute(
        delete(Keypair)
        .where(Keypair.access_key == access_key, Keypair.user_id == actor.user_id)
        .returning(Keypair.access_key)
    )
    if gone.first() is None:
        raise NotFound("keypair.not_found", f"You have no keypair {access_key}.")
    audit.record(tx, actor, "keypair.remove", access_key)


@dataclass(frozen=True)
class Profile:
    """Who somebody is, for their own eyes. projects: (id, name), by name."""

    user: User
    domain: Domain
    projects: list[tuple[ProjectId, str]]


async def profile(tx: AsyncSession, user_id: UserId) -> Profile:
    """The profile of a user that exists."""
    user, domain = (
        await tx.execute(
            select(User, Domain).join(Domain, Domain.id == User.domain_id).where(User.id == user_id)
        )
    ).one()
    projects = await tx.execute(
        select(Project.id, Project.name)
        .join(Membership, Membership.project_id == Project.id)
        .where(Membership.user_id == user_id)
        .order_by(Project.name)
    )
    return Profile(user, domain, [(row.id, row.name) for row in projects])


class Authenticator:
    """Turns a request's credential into an identity, remembering each for a few seconds.

    Signing out, and removing a keypair, forget at once in this process and within seconds in others.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._known: dict[tuple[bytes, str], tuple[float, Credential]] = {}

    async def by_cookie(self, token: str, address: str) -> Credential | None:
        """The sign-in that the cookie's token belongs to, or None."""
        return await self._remembered(
            (b"c" + _digest(token), address), lambda tx: self._login(tx, token, address)
        )

    async def by_keypair(self, authorization: str, address: str) -> Credential | None:
        """The keypair in an HTTP Basic header, or None."""
        try:
            scheme, encoded = authorization.split(" ", 1)
            access_key, secret_key = base64.b64decode(encoded, validate=True).decode().split(":", 1)
        except (ValueError, binascii.Error):
            return None
        if scheme.lower() != "basic" or not access_key.isalnum():
            return None
        return await self._remembered(
            (b"k" + _digest(f"{access_key}:{secret_key}"), address),
            lambda tx: self._keypair(tx, access_key, secret_key, address),
        )

    async def sign_out(self, token: str) -> None:
        """End the sign-in of this cookie. Twice: no-op."""
        async with self._database.transaction() as tx:
            await tx.execute(delete(Login).where(Login.id == _digest(token)))
        self.forget()

    def forget(self) -> None:
        """Ask the database again from now on."""
        # A new dict, so that a look-up which began before does not put its answer back.
        self._known = {}

    async def _remembered(self, key: tuple[bytes, str], look_up: _LookUp) -> Credential | None:
        remembered = self._known
        known = remembered.get(key)
        if known and known[0] > time.monotonic():
            return known[1]
        async with self._database.transaction() as tx:
            credential = await look_up(tx)
        if credential:
            if len(remembered) >= _CACHE_SIZE:
                remembered.clear()
            remembered[key] = (time.monotonic() + _CACHE_S, credential)
        return credential

    async def _login(self, tx: AsyncSession, token: str, address: str) -> Credential | None:
        row = (
            await tx.execute(
                select(Login, User)
                .join(User, User.id == Login.user_id)
                .where(Login.id == _digest(token), Login.expires_at > self._clock.now(), User.active)
            )
        ).first()
        if row is None:
            return None
        actor = replace(await _actor(tx, row.User, "cookie", address), login_id=row.Login.id)
        return Credential(actor, row.Login.csrf_token)

    async def _keypair(
        self, tx: AsyncSession, access_key: str, secret_key: str, address: str
    ) -> Credential | None:
        row = (
            await tx.execute(
                select(Keypair, User)
                .join(User, User.id == Keypair.user_id)
                .where(Keypair.access_key == access_key, Keypair.active, User.active)
            )
        ).first()
        if row is None or not secrets.compare_digest(row.Keypair.secret_hash, _digest(secret_key)):
            return None
        await tx.execute(
            update(Keypair).where(Keypair.access_key == access_key).values(last_used_at=self._clock.now())
        )
        return Credential(await _actor(tx, row.User, f"keypair:{access_key}", address), None)


async def _actor(tx: AsyncSession, user: User, credential: str, address: str) -> Actor:
    memberships = list((await tx.execute(select(Membership).where(Membership.user_id == user.id))).scalars())
    return Actor(
        user_id=user.id,
        email=user.email,
        role=Role(user.role),
        domain_id=user.domain_id,
        projects=frozenset(m.project_id for m in memberships),
        administers=frozenset(m.project_id for m in memberships if m.admin),
        credential=credential,
        address=address,
    )


async def _user_by_email(tx: AsyncSession, email: str) -> User | None:
    return (await tx.execute(select(User).where(func.lower(User.email) == email.strip().lower()))).scalar()


def _email_digest(email: str) -> bytes:
    return _digest(email.strip().lower())


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
