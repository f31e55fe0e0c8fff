"""One method for each operation of the HTTP API, written by tools/python_client.py.

What is left out of a call is left out of the request: the server's default holds, or a field stays as it is.
Every method raises CarrelError when the answer is no, or when there is none.
"""

from __future__ import annotations

import os

from carrel_client.transport import segment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Literal

    from carrel_client import models
    from carrel_client.transport import Transport

    UNSET: Any
else:
    UNSET = object()


class Group:
    """Operations on one kind of thing."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport


def _given(**fields: object) -> dict[str, object]:
    return {name.rstrip("_"): value for name, value in fields.items() if value is not UNSET}


def _key(given: str | None) -> str:
    return given or os.urandom(16).hex()


class Apps(Group):
    def list(self, ref: str) -> models.AppList:
        """The apps of a session, and whether each answers."""
        answer: models.AppList = self._transport.call("GET", f"/api/v1/sessions/{segment(ref)}/apps")
        return answer

    def open(self, ref: str, app: str) -> models.OpenedApp:
        """A link that opens the app once, within half a minute. Starts the app if it must, which takes a moment."""
        answer: models.OpenedApp = self._transport.call(
            "POST", f"/api/v1/sessions/{segment(ref)}/apps/{segment(app)}/open"
        )
        return answer


class Audit(Group):
    def list(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        actor: str | None = None,
        action: str | None = None,
        object_kind: str | None = None,
        object_id: str | None = None,
        outcome: Literal["done", "refused"] | None = None,
        address: str | None = None,
        q: str | None = None,
        owner: Literal["me", "all"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.AuditList:
        """Who did what, newest first: what you did and what was done to what is yours; administrators see their reach."""
        answer: models.AuditList = self._transport.call(
            "GET",
            "/api/v1/audit",
            query={
                "from": from_,
                "to": to,
                "actor": actor,
                "action": action,
                "object_kind": object_kind,
                "object_id": object_id,
                "outcome": outcome,
                "address": address,
                "q": q,
                "owner": owner,
                "limit": limit,
                "cursor": cursor,
            },
        )
        return answer

    def verify(self, *, after: int | None = None, expect: str | None = None) -> models.AuditCheck:
        """Look through a part of the chain for what was altered, is missing or was moved, and say exactly where."""
        answer: models.AuditCheck = self._transport.call(
            "GET", "/api/v1/audit/verify", query={"after": after, "expect": expect}
        )
        return answer


class Auth(Group):
    def login(self, *, email: str, password: str) -> models.Me:
        """Sign in; the cookie that comes back is the page's credential."""
        answer: models.Me = self._transport.call(
            "POST", "/api/v1/auth/login", body=_given(email=email, password=password)
        )
        return answer

    def logout(self) -> None:
        """Sign this browser out. With a keypair: no-op."""
        self._transport.call("POST", "/api/v1/auth/logout")

    def me(self) -> models.Me:
        """Who you are, your projects, and what you may do."""
        answer: models.Me = self._transport.call("GET", "/api/v1/auth/me")
        return answer


class Events(Group):
    def list(
        self,
        *,
        follow: bool | None = None,
        last_event_id: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> models.EventList:
        """What happened to what you may see. With follow=true: server-sent events, resumable by Last-Event-ID."""
        answer: models.EventList = self._transport.call(
            "GET",
            "/api/v1/events",
            query={"follow": follow, "last_event_id": last_event_id, "cursor": cursor, "limit": limit},
        )
        return answer


class Images(Group):
    def list(self) -> models.ImageList:
        """The images that sessions can be started from by name."""
        answer: models.ImageList = self._transport.call("GET", "/api/v1/images")
        return answer


class Keypairs(Group):
    def create(self, *, name: str = UNSET) -> models.KeypairCreated:
        """Make a keypair of yours. The secret is in this answer and nowhere else."""
        answer: models.KeypairCreated = self._transport.call(
            "POST", "/api/v1/keypairs", body=_given(name=name)
        )
        return answer

    def list(self, *, owner: str | None = None) -> models.KeypairList:
        """Keypairs, newest first; secrets are never shown again."""
        answer: models.KeypairList = self._transport.call("GET", "/api/v1/keypairs", query={"owner": owner})
        return answer

    def remove(self, access_key: str) -> None:
        """Remove a keypair; what still uses it is refused from now on."""
        self._transport.call("DELETE", f"/api/v1/keypairs/{segment(access_key)}")

    def rotate(self, access_key: str) -> models.KeypairCreated:
        """Give a keypair of yours another secret; the former is refused from now on."""
        answer: models.KeypairCreated = self._transport.call(
            "POST", f"/api/v1/keypairs/{segment(access_key)}/rotate"
        )
        return answer

    def update(
        self, access_key: str, *, active: bool = UNSET, name: str = UNSET, rate_limit: int | None = UNSET
    ) -> models.KeypairView:
        """Name a keypair, activate or deactivate it; administrators also set its rate limit."""
        answer: models.KeypairView = self._transport.call(
            "PATCH",
            f"/api/v1/keypairs/{segment(access_key)}",
            body=_given(active=active, name=name, rate_limit=rate_limit),
        )
        return answer


class Resources(Group):
    def show(self) -> models.ResourcesView:
        """Capacity, use, and what is left on the nodes that are ready."""
        answer: models.ResourcesView = self._transport.call("GET", "/api/v1/resources")
        return answer


class Server(Group):
    def health(self) -> models.Health:
        """Answers when the server can reach its database; 503 otherwise."""
        answer: models.Health = self._transport.call("GET", "/api/v1/health")
        return answer

    def show(self) -> models.ServerView:
        """Version, and each part with its state."""
        answer: models.ServerView = self._transport.call("GET", "/api/v1/server")
        return answer


class Sessions(Group):
    def create(
        self,
        *,
        image: str,
        slots: models.SlotRequest,
        env: dict[str, str] = UNSET,
        name: str | None = UNSET,
        project: str | None = UNSET,
        idempotency_key: str | None = None,
    ) -> models.SessionDetail:
        """Ask for a session. It is PENDING at once and starts as soon as there is room."""
        answer: models.SessionDetail = self._transport.call(
            "POST",
            "/api/v1/sessions",
            body=_given(env=env, image=image, name=name, project=project, slots=slots),
            key=_key(idempotency_key),
        )
        return answer

    def history(self, ref: str) -> models.HistoryList:
        """Every transition with its time, cause and actor, oldest first."""
        answer: models.HistoryList = self._transport.call("GET", f"/api/v1/sessions/{segment(ref)}/history")
        return answer

    def list(
        self,
        *,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        state: str | None = None,
        q: str | None = None,
        owner: Literal["me", "all"] | None = None,
        project: str | None = None,
    ) -> models.SessionList:
        """Your sessions, newest first unless sorted; with owner=all, every session that you may see."""
        answer: models.SessionList = self._transport.call(
            "GET",
            "/api/v1/sessions",
            query={
                "sort": sort,
                "limit": limit,
                "cursor": cursor,
                "state": state,
                "q": q,
                "owner": owner,
                "project": project,
            },
        )
        return answer

    def remove(self, ref: str, *, force: bool | None = None) -> models.SessionDetail:
        """Terminate a session, or cancel it while it waits. Repeating it changes nothing."""
        answer: models.SessionDetail = self._transport.call(
            "DELETE", f"/api/v1/sessions/{segment(ref)}", query={"force": force}
        )
        return answer

    def rename(self, ref: str, *, name: str) -> models.SessionDetail:
        """Give a live session another name."""
        answer: models.SessionDetail = self._transport.call(
            "PATCH", f"/api/v1/sessions/{segment(ref)}", body=_given(name=name)
        )
        return answer

    def show(self, ref: str) -> models.SessionDetail:
        """One session, with its environment and apps."""
        answer: models.SessionDetail = self._transport.call("GET", f"/api/v1/sessions/{segment(ref)}")
        return answer

    def usage(self, ref: str, *, minutes: int | None = None) -> models.SampleList:
        """CPU and memory of the last minutes, oldest first."""
        answer: models.SampleList = self._transport.call(
            "GET", f"/api/v1/sessions/{segment(ref)}/usage", query={"minutes": minutes}
        )
        return answer


class SshKeys(Group):
    def add(self, *, name: str, public_key: str | None = UNSET) -> models.SshKeyAdded:
        """Keep a public key of yours, or make a pair."""
        answer: models.SshKeyAdded = self._transport.call(
            "POST", "/api/v1/ssh-keys", body=_given(name=name, public_key=public_key)
        )
        return answer

    def list(self) -> models.SshKeyList:
        """Your SSH keys, newest first."""
        answer: models.SshKeyList = self._transport.call("GET", "/api/v1/ssh-keys")
        return answer

    def remove(self, key: str) -> None:
        """Forget an SSH key of yours."""
        self._transport.call("DELETE", f"/api/v1/ssh-keys/{segment(key)}")


class Tokens(Group):
    def create(
        self, *, name: str, scopes: Sequence[str], expires_in_days: int | None = UNSET
    ) -> models.TokenCreated:
        """Make a personal token. It is in this answer and nowhere else."""
        answer: models.TokenCreated = self._transport.call(
            "POST", "/api/v1/tokens", body=_given(expires_in_days=expires_in_days, name=name, scopes=scopes)
        )
        return answer

    def list(self) -> models.TokenList:
        """Your personal tokens, newest first."""
        answer: models.TokenList = self._transport.call("GET", "/api/v1/tokens")
        return answer

    def remove(self, token: str) -> None:
        """Revoke a personal token by its id."""
        self._transport.call("DELETE", f"/api/v1/tokens/{segment(token)}")


class Usage(Group):
    def recent(self, *, sessions: str) -> models.RecentUsage:
        """The last five minutes of several sessions; those that you may not see are left out."""
        answer: models.RecentUsage = self._transport.call(
            "GET", "/api/v1/usage", query={"sessions": sessions}
        )
        return answer


class Operations:
    """Every group, under its own name."""

    def __init__(self, transport: Transport) -> None:
        self.apps = Apps(transport)
        self.audit = Audit(transport)
        self.auth = Auth(transport)
        self.events = Events(transport)
        self.images = Images(transport)
        self.keypairs = Keypairs(transport)
        self.resources = Resources(transport)
        self.server = Server(transport)
        self.sessions = Sessions(transport)
        self.ssh_keys = SshKeys(transport)
        self.tokens = Tokens(transport)
        self.usage = Usage(transport)
