"""LDAP authentication: search for the user's entry, then bind with the password.

Source: RFC 4511-4516; RFC 4513 5.1.2 for why a bind with an empty password proves nothing.
"""

import asyncio
import re
import ssl
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any, TypeVar

import ldap3
from ldap3.core.exceptions import (
    LDAPBindError,
    LDAPException,
    LDAPInvalidDnError,
    LDAPSocketOpenError,
    LDAPStartTLSError,
)
from ldap3.operation.search import parse_filter
from ldap3.utils.conv import escape_filter_chars
from ldap3.utils.dn import parse_dn
from pydantic import Field, field_validator

from carrel.core.errors import CarrelError, Invalid
from carrel.identity.port import (
    TIMEOUT_S,
    Claims,
    ProviderContext,
    TestStep,
    misconfigured,
    trusting,
    unreachable,
)
from carrel.identity.settings import Certificates, GivenText, ProviderSettings, Secret, Text, Word
from carrel.plugins import Plugin

T = TypeVar("T")
_HOST = re.compile(r"[A-Za-z0-9.:_-]+$")
_CONNECT_S = 5
_PORTS = {"none": 389, "starttls": 389, "tls": 636}
_THREADS = 8
_MOST_GROUPS = 1000
_SUCCESS, _SIZE_LIMIT, _BUSY, _UNAVAILABLE = 0, 4, 51, 52


class LdapTls(StrEnum):
    """NONE: unencrypted, for a server on this machine. STARTTLS: upgrades a plain connection. TLS: ldaps."""

    NONE = "none"
    STARTTLS = "starttls"
    TLS = "tls"


class LdapSettings(ProviderSettings):
    """Users enter the name and password that they have in the directory."""

    host: GivenText = Field(title="Server", examples=["ldap.example.org"])
    port: int | None = Field(
        default=None, ge=1, le=65_535, title="Port", description="Default: 389, or 636 for TLS."
    )
    tls: LdapTls = Field(
        default=LdapTls.STARTTLS,
        title="Encryption",
        description="none sends passwords unencrypted: only for a server on this machine.",
    )
    bind_dn: Text = Field(
        default="",
        title="Bind DN",
        description="DN of the account that searches the directory. If empty, the search is anonymous.",
        examples=["cn=carrel,dc=example,dc=org"],
    )
    bind_password: Secret | None = Field(default=None, title="Bind password")
    user_base: GivenText = Field(title="User search base", examples=["ou=people,dc=example,dc=org"])
    user_filter: GivenText = Field(
        default="(&(objectClass=person)(|(uid={login})(mail={login})))",
        title="User filter",
        description="{login} is replaced with what the user enters.",
    )
    subject_attribute: Word = Field(
        default="entryUUID",
        title="Unique ID attribute",
        description="Its value never changes and is never given to another user.",
    )
    email_attribute: Word = Field(default="mail", title="E-mail attribute")
    name_attribute: Word = Field(default="cn", title="Name attribute")
    groups_attribute: Word = Field(default="memberOf", title="Groups attribute")
    group_base: Text = Field(
        default="", title="Group search base", description="If empty, groups are not searched for."
    )
    group_filter: GivenText = Field(
        default="(member={dn})",
        title="Group filter",
        description="{dn} is replaced with the user's DN, {uid} with their uid.",
    )
    ca: Certificates = ""

    @field_validator("host")
    @classmethod
    def _require_host(cls, host: str) -> str:
        if len(host) > 253 or not _HOST.match(host):
            raise ValueError("A directory's host is a name or an address, such as ldap.example.org")
        return host

    @property
    def server(self) -> str:
        return self.host


@dataclass(frozen=True)
class _Entry:
    """A directory entry. values: by lower-case attribute name."""

    dn: str
    values: Mapping[str, list[bytes]]

    def text(self, attribute: str) -> str:
        """The first value; binary values in hexadecimal; empty if there is none."""
        value = next(iter(self.values.get(attribute.lower(), [])), b"")
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value.hex()


class LdapDirectory:
    """A `PasswordProvider`. Each query uses its own connections, in dedicated threads.

    Raises: Invalid for invalid filters and certificates.
    """

    def __init__(self, settings: LdapSettings, context: ProviderContext) -> None:
        require_filter(settings.user_filter, "user_filter", "{login}")
        if settings.group_base:
            require_filter(settings.group_filter, "group_filter", "{dn}")
        self._settings = settings
        self._name = context.name
        self._port = settings.port or _PORTS[settings.tls]
        self._tls = _Verified(trusting(settings.ca), settings.host)
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="ldap")

    async def prove(self, login: str, password: str) -> Claims | None:
        # Many servers accept a bind with an empty password; it authenticates nobody.
        if not login or not password or "\0" in login:
            return None
        return await self._in_thread(lambda: self._prove(login, password))

    async def test(self, login: str | None) -> list[TestStep]:
        return await self._in_thread(lambda: list(self._tested(login)))

    def close(self) -> None:
        """Start no new queries; running ones complete."""
        self._threads.shutdown(wait=False)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        running = asyncio.get_running_loop().run_in_executor(self._threads, work)
        try:
            return await asyncio.wait_for(running, 3 * TIMEOUT_S)
        except TimeoutError as error:
            raise unreachable(self._name, "it takes too long to respond") from error

    def _prove(self, login: str, password: str) -> Claims | None:
        settings = self._settings
        with self._open() as searching:
            self._bind(searching)
            person = self._find(searching, login)
            if person is None:
                return None
            with self._open() as proving:
                if not self._takes(proving, person.dn, password):
                    return None
            groups = self._groups(searching, person)
        subject = person.text(settings.subject_attribute)
        if not subject:
            raise misconfigured(self._name, f"user entries have no attribute {settings.subject_attribute}")
        return Claims(
            subject=subject,
            email=person.text(settings.email_attribute).strip() or None,
            email_verified=True,
            name=person.text(settings.name_attribute),
            groups=groups,
            group_key=group_key,
        )

    def _tested(self, login: str | None) -> Iterator[TestStep]:
        settings = self._settings
        step = "connection"
        try:
            with self._open() as searching:
                encrypted = "in the open" if settings.tls == "none" else "encrypted"
                yield TestStep(step, True, f"{settings.host} answers at port {self._port}, {encrypted}.")
                step = "bind"
                self._bind(searching)
                yield TestStep(step, True, f"It lets {settings.bind_dn or 'anybody'} search.")
                step = "search"
                entries = self._search(searching, settings.user_base, "(objectClass=*)", [], most=1)
                if not entries:
                    raise misconfigured(self._name, f"nothing is visible below {settings.user_base}")
                yield TestStep(step, True, f"People are searched for below {settings.user_base}.")
                if login:
                    step = "person"
                    yield self._find_person(searching, login)
        except CarrelError as error:
            yield TestStep(step, False, error.message)

    def _find_person(self, searching: ldap3.Connection, login: str) -> TestStep:
        person = self._find(searching, login)
        if person is None:
            return TestStep("person", False, f"Nobody, or more than one, is found by {login}.")
        groups = ", ".join(sorted(group for group in self._groups(searching, person) if "=" not in group))
        email = person.text(self._settings.email_attribute) or "no e-mail"
        return TestStep("person", True, f"{login} is {person.dn}, with {email}; groups: {groups or 'none'}.")

    @contextmanager
    def _open(self) -> Iterator[ldap3.Connection]:
        """A connection with the configured encryption. Raises: Unavailable."""
        settings, connection = self._settings, None
        try:
            connection = self._connection()
            connection.open(read_server_info=False)
            if settings.tls == "starttls":
                connection.start_tls(read_server_info=False)
            yield connection
        except LDAPInvalidDnError as error:
            raise misconfigured(self._name, f"a DN in its settings is invalid ({_short(error)})") from error
        except (LDAPException, OSError) as error:
            raise unreachable(self._name, _why(error, f"{settings.host}:{self._port}")) from error
        finally:
            if connection:
                _leave(connection)

    def _connection(self) -> ldap3.Connection:
        settings = self._settings
        # A new object each time: ldap3 does not retry a failed server for a while.
        server = ldap3.Server(
            settings.host,
            port=self._port,
            use_ssl=settings.tls == "tls",
            tls=self._tls,
            get_info=ldap3.NONE,
            connect_timeout=_CONNECT_S,
        )
        return ldap3.Connection(
            server,
            receive_timeout=int(TIMEOUT_S),
            auto_referrals=False,
            read_only=True,
            check_names=False,
            raise_exceptions=False,
        )

    def _bind(self, connection: ldap3.Connection) -> None:
        settings = self._settings
        if settings.bind_dn and not settings.bind_password:
            raise misconfigured(self._name, f"the password of {settings.bind_dn} is missing")
        anonymous = not settings.bind_dn
        secret = settings.bind_password.get_secret_value() if settings.bind_password else None
        connection.authentication = ldap3.ANONYMOUS if anonymous else ldap3.SIMPLE
        connection.user, connection.password = settings.bind_dn or None, secret
        if not connection.bind(read_server_info=False):
            result = connection.result["description"]
            raise misconfigured(
                self._name, f"it rejects the bind as {settings.bind_dn or 'anonymous'} ({result})"
            )

    def _takes(self, connection: ldap3.Connection, dn: str, password: str) -> bool:
        """True if the bind succeeds. Raises: Unavailable."""
        connection.authentication = ldap3.SIMPLE
        connection.user, connection.password = dn, password
        try:
            taken = bool(connection.bind(read_server_info=False))
        except LDAPBindError:
            return False
        if connection.result["result"] in (_BUSY, _UNAVAILABLE):
            raise unreachable(self._name, "it is busy")
        return taken

    def _find(self, connection: ldap3.Connection, login: str) -> _Entry | None:
        settings = self._settings
        filter_ = settings.user_filter.replace("{login}", escape_filter_chars(login))
        attributes = [
            settings.subject_attribute,
            settings.email_attribute,
            settings.name_attribute,
            settings.groups_attribute,
            "uid",
        ]
        entries = self._search(connection, settings.user_base, filter_, attributes, most=2)
        return entries[0] if len(entries) == 1 else None

    def _groups(self, connection: ldap3.Connection, person: _Entry) -> frozenset[str]:
        """Every group of a user, each by its DN and by the value of its first part, see `group_key`."""
        settings = self._settings
        names = [
            value.decode("utf-8", "replace")
            for value in person.values.get(settings.groups_attribute.lower(), [])
        ]
        if settings.group_base:
            filter_ = settings.group_filter.replace("{dn}", escape_filter_chars(person.dn))
            filter_ = filter_.replace("{uid}", escape_filter_chars(person.text("uid")))
            entries = self._search(connection, settings.group_base, filter_, [], most=_MOST_GROUPS)
            names += [entry.dn for entry in entries]
        keys = {group_key(name) for name in names}
        return frozenset(keys | {_first_value(key) for key in keys})

    def _search(
        self, connection: ldap3.Connection, base: str, filter_: str, attributes: list[str], *, most: int
    ) -> list[_Entry]:
        connection.search(
            base,
            filter_,
            attributes=[*dict.fromkeys(attributes)] or ["1.1"],
            size_limit=most,
            time_limit=int(TIMEOUT_S),
        )
        if connection.result["result"] not in (_SUCCESS, _SIZE_LIMIT):
            result = connection.result["description"]
            raise misconfigured(self._name, f"it does not allow searches below {base} ({result})")
        return [_entry(each) for each in connection.response or [] if each["type"] == "searchResEntry"]


class _Verified(ldap3.Tls):
    """TLS with our own context, which verifies the certificate and the host name."""

    def __init__(self, context: ssl.SSLContext, host: str) -> None:
        super().__init__(validate=ssl.CERT_REQUIRED)
        self._context = context
        self._host = host

    def wrap_socket(self, connection: ldap3.Connection, do_handshake: bool = False) -> None:
        connection.socket = self._context.wrap_socket(
            connection.socket, server_hostname=self._host, do_handshake_on_connect=do_handshake
        )


def require_filter(text: str, field: str, part: str) -> None:
    """Check a filter. Raises: Invalid if its syntax is wrong or its placeholder is missing."""
    try:
        plain = text.replace(part, "x").replace("{uid}", "x")
        parse_filter(plain, None, False, None, None, False)  # type: ignore[no-untyped-call]
    except LDAPException:
        wrong = "is not a valid filter"
    else:
        wrong = "" if part in text or "{uid}" in text else f"lacks {part}"
    if wrong:
        raise Invalid(
            "provider.bad_filter",
            f"{text} {wrong}.",
            hint="A filter looks like (uid={login}) or (member={dn}).",
            field=field,
        )


def group_key(name: str) -> str:
    """The normalized name of a group, since directories do not distinguish `CN=Staff, O=X` from `cn=staff,o=x`."""
    if "=" in name:
        try:
            return ",".join(f"{kind}={value}" for kind, value, _ in parse_dn(name, strip=True)).lower()
        except LDAPException:
            pass
    return name.lower()


def _first_value(key: str) -> str:
    try:
        return str(parse_dn(key)[0][1]) if "=" in key else key
    except LDAPException:
        return key


def _entry(answer: Mapping[str, Any]) -> _Entry:
    return _Entry(answer["dn"], {name.lower(): values for name, values in answer["raw_attributes"].items()})


def _leave(connection: ldap3.Connection) -> None:
    try:
        connection.unbind()
    except (LDAPException, OSError):
        pass  # already closed


def _why(error: Exception, place: str) -> str:
    message = str(error)
    if "CERTIFICATE_VERIFY_FAILED" in message:
        return f"{place} has an untrusted certificate, or is for another name"
    if isinstance(error, LDAPStartTLSError):
        return f"{place} does not encrypt the line (StartTLS)"
    if isinstance(error, LDAPSocketOpenError):
        return f"{place} cannot be reached"
    return f"{place} says {_short(error)}"


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


PLUGIN = Plugin(LdapSettings, lambda settings: partial(LdapDirectory, settings), "LDAP", LdapDirectory)
