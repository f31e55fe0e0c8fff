"""The SDK: one method per operation of the HTTP API, under the operation's own name."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Mapping, Sequence

from carrel_client import operations
from carrel_client.errors import CarrelError
from carrel_client.files import Environments, Files, Uploads
from carrel_client.transport import Transport, segment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypedDict, Unpack

    from carrel_client import models
    from carrel_client.execution import Completed, Execution, RemoteTerminal
    from carrel_client.transfers import Transfers

    class LogChoice(TypedDict, total=False):
        """What to read of a log. container: default main. since, until: RFC 3339. search: part of a line."""

        container: str | None
        attempt: int | None
        tail: int | None
        since: str | None
        until: str | None
        search: str | None
        stream: Literal["stdout", "stderr"] | None
        timestamps: bool | None


_API = "/api/v1"
ENDED = frozenset({"TERMINATED", "CANCELLED", "ERROR"})
SETTLED = ENDED | {"RUNNING"}


class ApiClient(operations.Operations):
    """A Carrel server, accessed with one keypair or personal token.

    Thread-safe. Every method raises CarrelError on an error response or without a response.
    """

    auth: Auth
    password: Password
    sessions: Sessions
    events: Events
    audit: Audit
    environments: Environments
    image_scans: ImageScans
    maintenance: Maintenance
    scheduler: Scheduler
    metrics: Metrics
    usage: Usage
    files: Files
    uploads: Uploads

    def __init__(
        self,
        url: str,
        access_key: str | None = None,
        secret_key: str | None = None,
        *,
        token: str | None = None,
        timeout_s: float = 60.0,
    ) -> None:
        keypair = (access_key, secret_key) if access_key and secret_key else None
        self.transport = Transport(url, keypair=keypair, token=token, timeout_s=timeout_s)
        super().__init__(self.transport)
        self.auth = Auth(self.transport)
        self.password = Password(self.transport)
        self.sessions = Sessions(self.transport)
        self.events = Events(self.transport)
        self.audit = Audit(self.transport)
        self.environments = Environments(self.transport)
        self.image_scans = ImageScans(self.transport)
        self.maintenance = Maintenance(self.transport)
        self.scheduler = Scheduler(self.transport)
        self.metrics = Metrics(self.transport)
        self.usage = Usage(self.transport)
        self.files = Files(self.transport)
        self.uploads = Uploads(self.transport)

    @property
    def transfers(self) -> Transfers:
        """Uploads and downloads of files and directories."""
        from carrel_client.transfers import Transfers

        return Transfers(self.files, self.uploads)

    @classmethod
    def from_environment(cls, profile: str | None = None, *, timeout_s: float = 60.0) -> ApiClient:
        """The client that the `carrel` command would use here.

        In this order: the named profile; CARREL_URL with CARREL_ACCESS_KEY and CARREL_SECRET_KEY; with
        CARREL_URL alone the profile of that server; the profile named by CARREL_PROFILE; the profile "default".
        """
        from carrel_client.profiles import resolve

        resolved = resolve(profile, os.environ)
        return cls(
            resolved.url, resolved.access_key, resolved.secret_key, token=resolved.token, timeout_s=timeout_s
        )

    def close(self) -> None:
        """Close idle connections. The client stays usable."""
        self.transport.close()

    def __enter__(self) -> ApiClient:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


class Auth(operations.Auth):
    """Sign-in as on the page; scripts use a keypair and need only `me`."""

    def login(self, *, email: str, password: str) -> models.Me:
        """Sign in; this client then acts as that user until `logout`."""
        return self._went_on(super().login(email=email, password=password))

    def factor(
        self,
        *,
        code: str | None = operations.UNSET,
        passkey: models.PasskeyCredential | None = operations.UNSET,
        recovery_code: str | None = operations.UNSET,
    ) -> models.Me:
        """The second step of signing in, after `pending` was "factor"."""
        return self._went_on(super().factor(code=code, passkey=passkey, recovery_code=recovery_code))

    def providers_exchange(self, *, code: str, verifier: str) -> models.Me:
        """Sign in with the code from a browser; this client then acts as that user until `logout`."""
        return self._went_on(super().providers_exchange(code=code, verifier=verifier))

    def _went_on(self, me: models.Me) -> models.Me:
        self._transport.prove_page(me["csrf_token"] or "")
        return me


class Password(operations.Password):
    """One's own password."""

    def update(self, *, current: str, new: str) -> models.Me:
        """Change it and sign out other browsers; this client stays signed in."""
        me = super().update(current=current, new=new)
        if me["csrf_token"]:
            self._transport.prove_page(me["csrf_token"])
        return me


class Sessions(operations.Sessions):
    """Sessions. `ref` is an id, a unique id prefix, or a name."""

    def every(
        self, *, state: str = "all", q: str | None = None, owner: Literal["me", "all"] | None = None
    ) -> Iterator[models.SessionView]:
        """All sessions of all pages, newest first."""
        cursor = None
        while True:
            page = self.list(state=state, q=q, owner=owner, limit=200, cursor=cursor)
            yield from page["items"]
            cursor = page["next_cursor"]
            if not cursor:
                return

    def logs(self, ref: str, **choice: Unpack[LogChoice]) -> str:
        """The log of a container as text."""
        blocks = self.stream_logs(ref, **choice)
        return b"".join(blocks).decode("utf-8", "replace")

    def stream_logs(
        self, ref: str, *, follow: bool = False, as_json: bool = False, **choice: Unpack[LogChoice]
    ) -> Iterator[bytes]:
        """The log of a container in blocks. follow: until the session ends. as_json: one object per line."""
        query = {**choice, "follow": follow or None, "format": "json" if as_json else None}
        path = _session(ref, "logs")
        if follow:
            return self._transport.stream(path, query=query)
        return self._transport.stream(path, query=query, patience=lambda: 60.0)

    def wait(
        self, ref: str, *, until: Container[str] = SETTLED, timeout_s: float | None = None
    ) -> models.SessionDetail:
        """The session as soon as it has one of these states; by default RUNNING or ended.

        Raises: CarrelError with code client.wait_timeout.
        """
        from carrel_client.waiting import watch

        sightings = watch(self, self._transport, ref, timeout_s=timeout_s)
        return next(session for session in sightings if session["state"] in until)

    def run(
        self,
        ref: str,
        command: Sequence[str],
        *,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        container: str | None = None,
    ) -> Completed:
        """Run a command in the session; returns exit code and output. container: default main."""
        from carrel_client.execution import run

        return run(self._transport, ref, command, env=env, stdin=stdin, container=container)

    def exec(
        self,
        ref: str,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        tty: tuple[int, int] | None = None,
        container: str | None = None,
    ) -> Execution:
        """Start a command in the session with streaming I/O. tty: columns and rows of a terminal."""
        from carrel_client.execution import Execution

        return Execution(self._transport, ref, command, env=env, tty=tty, container=container)

    def terminal(
        self,
        ref: str,
        *,
        cols: int = 80,
        rows: int = 24,
        terminal_id: str | None = None,
        container: str | None = None,
    ) -> RemoteTerminal:
        """A shell in a terminal; with an id, reattach to that terminal."""
        from carrel_client.execution import RemoteTerminal

        return RemoteTerminal(
            self._transport, ref, cols=cols, rows=rows, terminal_id=terminal_id, container=container
        )


class Events(operations.Events):
    """The event stream."""

    def follow(self, *, last_event_id: str | None = None) -> Iterator[models.EventView]:
        """Every event from now on, or after the given one; reconnects automatically.

        Shape: each connection begins with an event of kind "hello": what happened before may have been missed,
        unless a last_event_id was given. Never ends by itself.
        """
        from carrel_client.waiting import follow

        return (event for event in follow(self._transport, last_event_id) if event is not None)


class Audit(operations.Audit):
    """The audit trail."""

    def export(self, *, format: Literal["csv", "jsonl"] = "jsonl", **filters: str | None) -> Iterator[bytes]:
        """All entries that match the filters of `list`, newest first, streamed as a file."""
        query = {name.rstrip("_"): value for name, value in filters.items()}
        return self._transport.stream(
            f"{_API}/audit/export", query={**query, "format": format}, patience=lambda: 60.0
        )


class ImageScans(operations.ImageScans):
    """Scans of images: packages, known vulnerabilities, exemptions."""

    def sbom(self, id: str) -> Iterator[bytes]:
        """The SBOM of an image in CycloneDX JSON, streamed."""
        return self._transport.stream(f"{_API}/image-scans/{segment(id)}/sbom", patience=lambda: 60.0)

    def export_vulnerabilities(self, id: str, **query: str | None) -> Iterator[bytes]:
        """All vulnerabilities in an image that match the parameters of `vulnerabilities`, as CSV, streamed."""
        path = f"{_API}/image-scans/{segment(id)}/vulnerabilities/export"
        return self._transport.stream(path, query=query, patience=lambda: 60.0)


class Maintenance(operations.Maintenance):
    """Checks of the installation, and its versions."""

    def bundle(self) -> Iterator[bytes]:
        """A support bundle, streamed as a zip file."""
        return self._transport.stream(f"{_API}/maintenance/bundle", patience=lambda: 120.0)


class Scheduler(operations.Scheduler):
    """Queues, fair shares, and exports for replays."""

    def trace(self, *, since: str | None = None, until: str | None = None) -> Iterator[bytes]:
        """Past session requests with durations, streamed as JSON lines."""
        query = {"since": since, "until": until}
        return self._transport.stream(f"{_API}/scheduler/trace", query=query, patience=lambda: 60.0)


class Usage(operations.Usage):
    """Allocation and usage over time, and statistics."""

    def export(self, **query: str | None) -> str:
        """All statistics that match the parameters of `statistics`, as CSV."""
        sent = {name.rstrip("_"): value for name, value in query.items()}
        blocks = self._transport.stream(f"{_API}/usage/statistics/export", query=sent, patience=lambda: 60.0)
        return b"".join(blocks).decode()


class Metrics(operations.Group):
    """Gauges for Prometheus."""

    def show(self) -> str:
        """All of them now, in Prometheus' text format."""
        blocks = self._transport.stream(f"{_API}/metrics", patience=lambda: 60.0)
        return b"".join(blocks).decode()


def _session(ref: str, *parts: str) -> str:
    return "/".join([f"{_API}/sessions", *map(segment, (ref, *parts))])


__all__ = ["ApiClient", "CarrelError"]
