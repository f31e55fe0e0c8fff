"""The SDK: one method per operation of the HTTP API, under the operation's own name."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Mapping, Sequence

from carrel_client.errors import CarrelError
from carrel_client.transport import Transport, segment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models
    from carrel_client.execution import Completed, Execution, Terminal

_API = "/api/v1"
ENDED = frozenset({"TERMINATED", "CANCELLED", "ERROR"})
SETTLED = ENDED | {"RUNNING"}


class Carrel:
    """One Carrel server, seen through one keypair.

    May be shared by threads. Every method raises CarrelError when the answer is no, or when there is none.
    """

    def __init__(
        self,
        url: str,
        access_key: str | None = None,
        secret_key: str | None = None,
        *,
        timeout_s: float = 60.0,
    ) -> None:
        keypair = (access_key, secret_key) if access_key and secret_key else None
        self.transport = Transport(url, keypair=keypair, timeout_s=timeout_s)
        self.auth = Auth(self.transport)
        self.keypairs = Keypairs(self.transport)
        self.server = Server(self.transport)
        self.images = Images(self.transport)
        self.resources = Resources(self.transport)
        self.sessions = Sessions(self.transport)
        self.usage = Usage(self.transport)
        self.apps = Apps(self.transport)
        self.events = Events(self.transport)

    @classmethod
    def from_environment(cls, profile: str | None = None, *, timeout_s: float = 60.0) -> Carrel:
        """The client that the `carrel` command would use here.

        In this order: the named profile; CARREL_URL with CARREL_ACCESS_KEY and CARREL_SECRET_KEY; with
        CARREL_URL alone the profile of that server; the profile named by CARREL_PROFILE; the profile "default".
        """
        from carrel_client.profiles import resolve

        found = resolve(profile, os.environ)
        return cls(found.url, found.access_key, found.secret_key, timeout_s=timeout_s)

    def close(self) -> None:
        """Drop kept connections. The client stays usable."""
        self.transport.close()

    def __enter__(self) -> Carrel:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


class _Group:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport


class Auth(_Group):
    """Signing in as a page does; scripts use a keypair and need none of it but `me`."""

    def login(self, email: str, password: str) -> models.Me:
        """Sign in; this client then acts as that person until `logout`."""
        me: models.Me = self._transport.call(
            "POST", f"{_API}/auth/login", body={"email": email, "password": password}
        )
        self._transport.prove_page(me["csrf_token"] or "")
        return me

    def me(self) -> models.Me:
        """Who is asking, and their projects."""
        me: models.Me = self._transport.call("GET", f"{_API}/auth/me")
        return me

    def logout(self) -> None:
        """End what `login` began."""
        self._transport.call("POST", f"{_API}/auth/logout")


class Keypairs(_Group):
    """Access keys of the person who asks."""

    def list(self) -> models.KeypairList:
        """All of them; secrets are shown only once, at their creation."""
        found: models.KeypairList = self._transport.call("GET", f"{_API}/keypairs")
        return found

    def create(self, *, idempotency_key: str | None = None) -> models.KeypairCreated:
        """A new one, with the secret that is never shown again."""
        made: models.KeypairCreated = self._transport.call(
            "POST", f"{_API}/keypairs", body={}, key=idempotency_key or _new_key()
        )
        return made

    def remove(self, access_key: str) -> None:
        """Delete one; whoever uses it is refused from then on."""
        self._transport.call("DELETE", f"{_API}/keypairs/{segment(access_key)}")


class Server(_Group):
    """The installation itself."""

    def show(self) -> models.ServerView:
        """Version and the health of each part."""
        shown: models.ServerView = self._transport.call("GET", f"{_API}/server")
        return shown

    def health(self) -> models.Health:
        """Whether it is well; needs no keypair."""
        health: models.Health = self._transport.call("GET", f"{_API}/health")
        return health


class Images(_Group):
    """Images that sessions can start from."""

    def list(self) -> models.ImageList:
        """The catalogue."""
        found: models.ImageList = self._transport.call("GET", f"{_API}/images")
        return found


class Resources(_Group):
    """What the nodes have, and what is left of it."""

    def show(self) -> models.ResourcesView:
        """Capacity, use, and the largest session that could start now."""
        shown: models.ResourcesView = self._transport.call("GET", f"{_API}/resources")
        return shown


class Sessions(_Group):
    """Sessions. `ref` is an id, a unique beginning of one, or a name."""

    def create(
        self,
        image: str,
        *,
        slots: Mapping[str, int],
        name: str | None = None,
        env: Mapping[str, str] | None = None,
        project: str | None = None,
        idempotency_key: str | None = None,
    ) -> models.SessionDetail:
        """A new session, PENDING; `wait` for it.

        slots: millicores of `cpu`, bytes of `mem`. project: id or name; your only one when left out.
        Twice with the same idempotency_key: the first session again.
        """
        wanted = {
            "name": name,
            "image": image,
            "slots": dict(slots),
            "env": dict(env or {}),
            "project": project,
        }
        body = {field: value for field, value in wanted.items() if value is not None}
        made: models.SessionDetail = self._transport.call(
            "POST", f"{_API}/sessions", body=body, key=idempotency_key or _new_key()
        )
        return made

    def list(
        self,
        *,
        state: str = "all",
        q: str | None = None,
        owner: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.SessionList:
        """One page, newest first. state: live, ended, all or a state. q: part of a name or image."""
        query = {"state": state, "q": q, "owner": owner, "limit": limit, "cursor": cursor}
        page: models.SessionList = self._transport.call("GET", f"{_API}/sessions", query=query)
        return page

    def every(
        self, *, state: str = "all", q: str | None = None, owner: str | None = None
    ) -> Iterator[models.SessionView]:
        """All sessions of all pages, newest first."""
        cursor = None
        while True:
            page = self.list(state=state, q=q, owner=owner, limit=200, cursor=cursor)
            yield from page["items"]
            cursor = page["next_cursor"]
            if not cursor:
                return

    def show(self, ref: str) -> models.SessionDetail:
        """One session."""
        shown: models.SessionDetail = self._transport.call("GET", _session(ref))
        return shown

    def rename(self, ref: str, name: str) -> models.SessionDetail:
        """The session under its new name."""
        renamed: models.SessionDetail = self._transport.call("PATCH", _session(ref), body={"name": name})
        return renamed

    def remove(self, ref: str, *, force: bool = False) -> models.SessionDetail:
        """Terminate it, or cancel it when it does not run yet. Twice: nothing more happens.

        force: do not give its processes time to end by themselves.
        """
        removed: models.SessionDetail = self._transport.call("DELETE", _session(ref), query={"force": force})
        return removed

    def history(self, ref: str) -> models.HistoryList:
        """Its transitions, oldest first, with time, cause and reason."""
        history: models.HistoryList = self._transport.call("GET", _session(ref, "history"))
        return history

    def logs(self, ref: str, *, tail: int | None = None) -> str:
        """What its main process wrote, the last `tail` lines of it when given."""
        blocks = self._transport.stream(_session(ref, "logs"), query={"tail": tail}, patience=lambda: 60.0)
        return b"".join(blocks).decode("utf-8", "replace")

    def follow_logs(self, ref: str, *, tail: int | None = None) -> Iterator[bytes]:
        """The same piece by piece, and then what comes until the session ends."""
        return self._transport.stream(_session(ref, "logs"), query={"tail": tail, "follow": True})

    def usage(self, ref: str, *, minutes: int = 60) -> models.SampleList:
        """Measured use over the last minutes, oldest first."""
        usage: models.SampleList = self._transport.call(
            "GET", _session(ref, "usage"), query={"minutes": minutes}
        )
        return usage

    def wait(
        self, ref: str, *, until: Container[str] = SETTLED, timeout_s: float | None = None
    ) -> models.SessionDetail:
        """The session as soon as its state is one of these: RUNNING or ended, unless told otherwise.

        Raises: CarrelError with code client.wait_timeout.
        """
        from carrel_client.waiting import watch

        sightings = watch(self, self._transport, ref, timeout_s=timeout_s)
        return next(session for session in sightings if session["state"] in until)

    def run(
        self, ref: str, command: Sequence[str], *, stdin: bytes = b"", env: Mapping[str, str] | None = None
    ) -> Completed:
        """The exit code and the output of a command in the session."""
        from carrel_client.execution import run

        return run(self._transport, ref, command, env=env, stdin=stdin)

    def exec(
        self,
        ref: str,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        tty: tuple[int, int] | None = None,
    ) -> Execution:
        """A command in the session, to feed and to read while it runs. tty: columns and rows of a terminal."""
        from carrel_client.execution import Execution

        return Execution(self._transport, ref, command, env=env, tty=tty)

    def terminal(
        self, ref: str, *, cols: int = 80, rows: int = 24, terminal_id: str | None = None
    ) -> Terminal:
        """A shell in a terminal; with the id of one, that one again."""
        from carrel_client.execution import Terminal

        return Terminal(self._transport, ref, cols=cols, rows=rows, terminal_id=terminal_id)


class Usage(_Group):
    """Use of several sessions at once."""

    def recent(self, sessions: Sequence[str]) -> models.RecentUsage:
        """The last five minutes, in steps of five seconds."""
        recent: models.RecentUsage = self._transport.call(
            "GET", f"{_API}/usage", query={"sessions": ",".join(sessions)}
        )
        return recent


class Apps(_Group):
    """Services inside a session, reached through the gateway."""

    def list(self, ref: str) -> models.AppList:
        """The apps that this session offers."""
        found: models.AppList = self._transport.call("GET", _session(ref, "apps"))
        return found

    def open(self, ref: str, app: str) -> models.OpenedApp:
        """A link that opens the app in a browser: once, within half a minute. Starts the app if it must."""
        opened: models.OpenedApp = self._transport.call("POST", _session(ref, "apps", app, "open"))
        return opened


class Events(_Group):
    """What happens, as it happens."""

    def list(self, *, limit: int | None = None, cursor: str | None = None) -> models.EventList:
        """The last events, newest first."""
        query = {"limit": limit, "cursor": cursor}
        page: models.EventList = self._transport.call("GET", f"{_API}/events", query=query)
        return page

    def follow(self, *, last_event_id: str | None = None) -> Iterator[models.EventView]:
        """Every event from now on, or after that one; joins again by itself when the connection breaks.

        Shape: each connection begins with an event of kind "hello": what happened before may have been missed,
        unless a last_event_id was given. Never ends by itself.
        """
        from carrel_client.waiting import follow

        return (event for event in follow(self._transport, last_event_id) if event is not None)


def _session(ref: str, *parts: str) -> str:
    return "/".join([f"{_API}/sessions", *map(segment, (ref, *parts))])


def _new_key() -> str:
    return os.urandom(16).hex()


__all__ = ["Carrel", "CarrelError"]
