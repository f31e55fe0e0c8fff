"""Sessions and their apps as objects."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple

from carrel_client import models, slots
from carrel_client.client import ENDED, ApiClient
from carrel_client.definition import parse_array
from carrel_client.dependencies import parse_dependency
from carrel_client.errors import CarrelError
from carrel_client.sdk.paging import items
from carrel_client.units import parse_cpu, parse_duration, parse_size

Until = Literal["running", "ended"]
LogStream = Literal["stdout", "stderr"]


class LogLine(str):
    """A line of a log, without its end. at: when it was received, if known. stream: "carrel" for notices."""

    at: datetime | None
    stream: Literal["stdout", "stderr", "carrel"]


class ExecResult(NamedTuple):
    """The result of a command that has ended."""

    exit_code: int
    stdout: bytes
    stderr: bytes

    @property
    def text(self) -> str:
        """Standard output as text."""
        return self.stdout.decode("utf-8", "replace")

    def check(self) -> ExecResult:
        """The result itself. Raises: CarrelError with code client.command_failed unless the exit code is 0."""
        if self.exit_code:
            lines = self.stderr.decode("utf-8", "replace").strip().splitlines()
            raise CarrelError(
                "client.command_failed",
                f"The command exited with code {self.exit_code}{': ' + lines[-1] if lines else ''}.",
                status=422,
            )
        return self


class AppAccess(NamedTuple):
    """What a program needs to use an app over HTTP and WebSockets.

    url: the origin of the app, with a slash at the end. headers: to send with every request. expires_at: when to ask
    for another; it also ends with the session, and with the credentials of this client.
    """

    url: str
    headers: dict[str, str]
    expires_at: datetime


class App:
    """An app of a session, such as JupyterLab."""

    def __init__(self, api: ApiClient, session_id: str, name: str) -> None:
        self._api = api
        self._session_id = session_id
        self._name = name

    @property
    def name(self) -> str:
        """The name of the app, such as "jupyter"."""
        return self._name

    def url(self) -> str:
        """A link that opens the app in a browser, once and within 30 seconds. Starts the app if necessary."""
        return self._api.apps.open(self._session_id, self._name)["url"]

    def connect(self) -> AppAccess:
        """Address and headers for a program. Starts the app if necessary.

        The headers hold a token for this app alone, which never reaches the session.
        """
        made = self._api.apps.token(self._session_id, self._name)
        headers = {"Authorization": f"Bearer {made['token']}"}
        return AppAccess(made["url"], headers, datetime.fromisoformat(made["expires_at"]))


class Session:
    """A compute session. Attributes are as of the last answer; `refresh()` fetches them again."""

    def __init__(self, api: ApiClient, raw: models.SessionDetail | models.SessionView) -> None:
        self._api = api
        self._raw = raw

    def __repr__(self) -> str:
        return f"<Session {self.id} {self.name!r} {self.state}>"

    @property
    def raw(self) -> models.SessionDetail | models.SessionView:
        """The answer of the API that this object holds."""
        return self._raw

    @property
    def id(self) -> str:
        """The id, unique for ever."""
        return self._raw["id"]

    @property
    def name(self) -> str:
        """The name, unique among the live sessions of its owner."""
        return self._raw["name"]

    @property
    def state(self) -> models.SessionState:
        """PENDING, SCHEDULED, PREPARING, STARTING, RUNNING, TERMINATING, TERMINATED, CANCELLED or ERROR."""
        return self._raw["state"]

    @property
    def running(self) -> bool:
        """Whether the state is RUNNING."""
        return self.state == "RUNNING"

    @property
    def ended(self) -> bool:
        """Whether the state is TERMINATED, CANCELLED or ERROR."""
        return self.state in ENDED

    @property
    def reason(self) -> str | None:
        """Why it is pending, failed or ended."""
        return self._raw["reason"]

    @property
    def result(self) -> models.Result | None:
        """Result of a batch session that has ended: success, failure, timed_out or cancelled."""
        return self._raw["result"]

    @property
    def exit_code(self) -> int | None:
        """Exit code of its main process, once it is known. Lists do not contain it: `refresh()` fetches it."""
        containers: Any = self._raw.get("containers")
        return containers[0]["exit_code"] if containers else None

    @property
    def image(self) -> str:
        """The image it runs."""
        return self._raw["image"]

    @property
    def owner(self) -> models.OwnerRef:
        """Whose it is."""
        return self._raw["owner"]

    @property
    def project(self) -> models.ProjectRef:
        """The project it belongs to."""
        return self._raw["project"]

    @property
    def group(self) -> models.GroupRef:
        """The resource group it is scheduled in."""
        return self._raw["group"]

    @property
    def node(self) -> str | None:
        """The node it runs on; None before it is placed, or where nodes are not shown."""
        return self._raw["node"]

    @property
    def cluster_size(self) -> int:
        """The number of its containers."""
        return self._raw["cluster_size"]

    @property
    def array(self) -> models.ArrayView | None:
        """The array that it belongs to, with the numbers of its sessions by state and result."""
        return self._raw["array"]

    @property
    def cpu(self) -> float:
        """Cores."""
        return self._raw["slots"]["cpu"] / 1000

    @property
    def mem_bytes(self) -> int:
        """Memory in bytes."""
        return self._raw["slots"]["mem"]

    @property
    def slots(self) -> dict[str, int]:
        """All amounts in base units: cpu in millicores, mem in bytes, accelerators by slot."""
        return self._raw["slots"]

    @property
    def priority(self) -> int:
        """0 to 100; higher starts first."""
        return self._raw["priority"]

    @property
    def queue_position(self) -> int | None:
        """The place in the queue while pending; 1 is next."""
        return self._raw["queue_position"]

    @property
    def created_at(self) -> datetime:
        """When it was requested, in UTC."""
        return datetime.fromisoformat(self._raw["created_at"])

    @property
    def started_at(self) -> datetime | None:
        """When it started to run."""
        return _time(self._raw["started_at"])

    @property
    def ended_at(self) -> datetime | None:
        """When it ended."""
        return _time(self._raw["ended_at"])

    def refresh(self) -> Session:
        """This object with the current attributes."""
        self._raw = self._api.sessions.show(self.id)
        return self

    def wait(self, until: Until = "running", *, timeout_s: float | None = None) -> Session:
        """This object as soon as the session runs, or has ended.

        Raises: SessionFailedError when it ends instead of running; WaitTimeoutError.
        """
        states = ENDED | {"RUNNING"} if until == "running" else ENDED
        self._raw = self._api.sessions.wait(self.id, until=states, timeout_s=timeout_s)
        return require_running(self) if until == "running" else self

    def logs(
        self,
        *,
        follow: bool = False,
        tail: int | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        search: str | None = None,
        stream: LogStream | None = None,
        container: str | None = None,
        attempt: int | None = None,
    ) -> Iterator[LogLine]:
        """The lines of its log, which are strings with the time and the stream; with follow, those to come too, until
        it ends.

        tail: only the last lines. since: from then on. until: before. search: only lines with this text, in any case.
        container: default main. attempt: only this life of the container, from 1.
        """
        return log_lines(
            self._api.sessions.stream_logs(
                self.id,
                follow=follow,
                as_json=True,
                tail=tail,
                since=_text(since),
                until=_text(until),
                search=search,
                stream=stream,
                container=container,
                attempt=attempt,
            )
        )

    def exec(
        self,
        command: Sequence[str],
        *,
        stdin: bytes | str = b"",
        env: Mapping[str, str] | None = None,
        container: str | None = None,
    ) -> ExecResult:
        """Run a command in the session and wait for it. For a shell: ["sh", "-c", "ls | wc -l"].

        container: such as "sub1"; the main one by default.
        """
        sent = stdin.encode() if isinstance(stdin, str) else stdin
        return ExecResult(*self._api.sessions.run(self.id, command, stdin=sent, env=env, container=container))

    def rename(self, name: str) -> Session:
        """This object with another name."""
        self._raw = self._api.sessions.rename(self.id, name=name)
        return self

    def terminate(
        self, *, force: bool = False, signal: str | None = None, grace: float | str | None = None
    ) -> Session:
        """This object, terminating; or cancelled when it was pending. A second call changes nothing.

        force: it has ended on return, even if the engine does not respond. signal, grace: sent to its main process, and
        the time until it is killed; default: as requested with the session.
        """
        grace_s = None if grace is None else round(parse_duration(str(grace)))
        query: dict[str, Any] = {"force": force, "signal": signal, "grace_s": grace_s}
        self._raw = self._api.sessions.remove(self.id, **query)
        return self

    def restart(self) -> Session:
        """This object, restarting in place with new containers; it keeps its slots and folders."""
        self._raw = self._api.sessions.restart(self.id)
        return self

    def extend(self, time: float | str) -> Session:
        """This object with a longer time limit. time: added to it, in seconds or "2h"."""
        limit = self.refresh().raw["time_limit_s"]
        if limit is None:
            raise CarrelError("session.no_time_limit", f"{self.name} has no time limit.", status=409)
        longer = limit + round(parse_duration(str(time)))
        self._raw = self._api.sessions.extend(self.id, time_limit_s=longer)
        return self

    def resize(
        self, *, cpu: float | str | None = None, mem: int | str | None = None, container: str | None = None
    ) -> Session:
        """This object, whose CPU and memory change within seconds; refresh() shows when.

        cpu: cores. mem: bytes or "4g". container: of a cluster session, default main.
        """
        self._raw = self._api.sessions.resize(
            self.id,
            cpu=None if cpu is None else parse_cpu(str(cpu)),
            mem=None if mem is None else parse_size(str(mem)),
            container=container,
        )
        return self

    def again(self, *, exact_image: bool = False) -> Session:
        """Another session with the present definition of this one.

        exact_image: by the digest of the image that it ran, whatever its tag means now.
        """
        return Session(self._api, self._api.sessions.again(self.id, exact_image=exact_image))

    def share(
        self,
        with_user: str | None = None,
        *,
        project: str | None = None,
        level: models.AccessLevel = "look",
        expires: float | str | None = None,
    ) -> models.CreatedSessionShare:
        """Share it with a user by e-mail, with a project's members, or, without either, by a link: its `url`.

        level: look at it, or use its apps and terminals as well. expires: in seconds or "2h"; required for a link.
        """
        return self._api.sessions.share(
            self.id,
            user=with_user,
            project=project,
            link=with_user is None and project is None,
            level=level,
            expires_in_s=None if expires is None else round(parse_duration(str(expires))),
        )

    def shares(self) -> list[models.SessionShareView]:
        """Who has access by a share, and until when, oldest first."""
        return self._api.sessions.shares(self.id)["items"]

    def unshare(self, share: str) -> None:
        """Revoke a share, by its id or by its recipient. What they opened is closed at once."""
        self._api.sessions.unshare(self.id, share)

    def leave(self) -> models.LeftSession:
        """End your own access to it, if another user shares it with you. Shares with your projects remain."""
        return self._api.sessions.leave(self.id)

    def history(self) -> list[models.HistoryView]:
        """Every state transition with time, cause and actor, oldest first."""
        return self._api.sessions.history(self.id)["items"]

    def timeline(self) -> models.SessionTimeline:
        """The steps of its last start with their times: queue, mounts, image, container, apps."""
        return self._api.sessions.timeline(self.id)

    def why(self) -> models.WhyView:
        """Why it is pending: position in the queue, limits and nodes in the way, expected start."""
        return self._api.sessions.why(self.id)

    def graph(self) -> models.SessionGraph:
        """The sessions that it starts after and those that start after it, directly or not."""
        return self._api.sessions.graph(self.id)

    def usage(
        self,
        *,
        minutes: int | None = None,
        from_: str | None = None,
        to: str | None = None,
        container: str | None = None,
        step: int | None = None,
    ) -> models.SessionUsageView:
        """Measured usage of each container over a period, oldest first. step: seconds."""
        return self._api.sessions.usage(
            self.id, minutes=minutes, from_=from_, to=to, container=container, step=step
        )

    def apps(self) -> list[models.AppView]:
        """The apps of the session, and whether each answers."""
        return self._api.apps.list(self.id)["items"]

    def app(self, name: str) -> App:
        """One app by its name. No request is sent before it is used."""
        return App(self._api, self.id, name)


class Sessions:
    """Creates and finds sessions."""

    def __init__(self, api: ApiClient) -> None:
        self._api = api

    def create(
        self,
        image: str = "starter",
        *,
        cpu: float | str = 1,
        mem: int | str = "1g",
        accelerators: Mapping[str, float | str] | None = None,
        name: str | None = None,
        description: str = "",
        env: Mapping[str, str] | None = None,
        mounts: Sequence[str | models.MountRequest] = (),
        command: Sequence[str] = (),
        retries: int = 0,
        array: str | models.ArrayRequest | None = None,
        start_at: datetime | None = None,
        cluster_size: int = 1,
        roles: Sequence[models.ClusterRole] = (),
        placement: models.ClusterPlacement | None = None,
        topology: str | None = None,
        on_failure: models.OnFailure | None = None,
        project: str | None = None,
        group: str | Sequence[str] | None = None,
        priority: int | None = None,
        time_limit: float | str | None = None,
        node: str | None = None,
        after: Sequence[str | models.DependencyRequest] = (),
        on_dependency_failure: models.DependencyFailure | None = None,
        bootstrap: str = "",
        shm: int | str | None = None,
        workdir: str | None = None,
        timezone: str | None = None,
        locale: str | None = None,
        stop_signal: str | None = None,
        grace: float | str | None = None,
        root: bool = False,
        disk: int | str | None = None,
        replaces: str | None = None,
        idempotency_key: str | None = None,
    ) -> Session:
        """A new session, PENDING; call `wait()` for it to run.

        cpu: cores (1.5, "500m"). mem: bytes or a size ("512m", "4g"). accelerators: {"cuda.device": 1} or
        {"cuda.shares": 0.5}. mounts: folders by name, or mount requests. time_limit: seconds, or "2h". group: resource
        group; several, in order of preference: it starts in the first one that can take it.
        command: makes it a batch session, which runs the command once and ends with it; it is repeated up to `retries`
        times if it fails. array: one batch session for each index, "1-100", or "1-100%8" for at most eight at a time;
        the first one is returned, and `list(array=...)` gives all. start_at: earliest start; a time without a zone is
        local.
        after: what must succeed first: ids or names of sessions, names of arrays or "array:ID"; or "ID:failed" and
        "ID:ended". on_dependency_failure: what happens once one of them did not end as needed, "cancel" (the default)
        or "wait".
        root: with root inside, so that sudo and package managers work, if your policy and the group's nodes allow it.
        disk: what each container may write outside its folders, as mem; default: that of your policy.
        replaces: a pending session to cancel in the same step; its place for those that start after it is kept, and its
        name unless `name` is given.
        cluster_size: so many containers, main1, sub1, sub2 ... in a network of their own. roles: containers that
        differ, instead. placement: "together" on one node or near each other, or "spread". topology: a level of the
        group's topology, such as "rack" or "node", within one domain of which all containers are. on_failure: whether
        the session has to "end" when a container besides the main one fails, or to "continue".
        bootstrap: text of a script that runs once before the session is used. shm: size of /dev/shm, as mem. workdir:
        working directory, absolute or relative to the home. timezone, locale: such as "Asia/Seoul", "ko_KR.UTF-8".
        stop_signal, grace: sent to the main process when the session is terminated, and the time until it is killed.
        idempotency_key: a repeat with the same key returns the first session. Without one a key is generated, so that a
        request repeated after a broken connection never creates two.
        """
        given: dict[str, Any] = {
            "env": dict(env) if env else None,
            "mounts": [{"folder": each} if isinstance(each, str) else each for each in mounts] or None,
            "name": name,
            "description": description or None,
            "kind": "batch" if command else None,
            "command": list(command) or None,
            "retries": retries or None,
            "array": _array(array) if isinstance(array, str) else array,
            "start_at": start_at.astimezone().isoformat() if start_at else None,
            "containers": cluster_size if cluster_size > 1 else None,
            "roles": list(roles) or None,
            "placement": placement,
            "topology": topology,
            "on_failure": on_failure,
            "project": project,
            **accepted_groups(group),
            "priority": priority,
            "node": node,
            "after": [parse_dependency(each) if isinstance(each, str) else each for each in after] or None,
            "on_dependency_failure": on_dependency_failure,
            "bootstrap": bootstrap or None,
            "shm_bytes": None if shm is None else parse_size(str(shm)),
            "workdir": workdir,
            "timezone": timezone,
            "locale": locale,
            "stop_signal": stop_signal,
            "grace_s": None if grace is None else round(parse_duration(str(grace))),
            "rights": "root" if root else None,
            "disk_bytes": None if disk is None else parse_size(str(disk)),
            "time_limit_s": None if time_limit is None else round(parse_duration(str(time_limit))),
        }
        made = self._api.sessions.create(
            image=image,
            slots=amounts(cpu, mem, accelerators),
            replaces=replaces,
            idempotency_key=idempotency_key,
            **{field: value for field, value in given.items() if value is not None},
        )
        return Session(self._api, made)

    def get(self, ref: str) -> Session:
        """A session by id, unique prefix of an id, or name. Raises: NotFoundError."""
        return Session(self._api, self._api.sessions.show(ref))

    def list(
        self,
        *,
        state: str = "all",
        search: str | None = None,
        owner: str | None = None,
        project: str | None = None,
        array: str | None = None,
        sort: str | None = None,
    ) -> Iterator[Session]:
        """Sessions, newest first, fetched page by page.

        state: "live", "ended", "all" or a state in either case. owner: "me" (the default), "shared"
        (with you), "all", or an id or e-mail.
        search: part of the name or image. array: only the sessions of this one, by its id.
        sort: a field, with "-" before it in descending order.
        """
        filter_ = state if state in ("live", "ended", "all") else state.upper()
        views = items(
            self._api.sessions.list,
            state=filter_,
            q=search,
            owner=owner,
            project=project,
            array=array,
            sort=sort,
            limit=200,
        )
        return (Session(self._api, each) for each in views)


def _array(text: str) -> models.ArrayRequest:
    """Raises: CarrelError."""
    try:
        return parse_array(text)
    except ValueError as wrong:
        raise CarrelError("client.bad_array", f"{wrong}.", status=422) from None


def amounts(
    cpu: float | str | None, mem: int | str | None, accelerators: Mapping[str, float | str] | None
) -> dict[str, int]:
    """Amounts as people write them, in base units, without what is None. Raises: CarrelError naming the amount."""
    try:
        amounts = {} if cpu is None else {"cpu": parse_cpu(str(cpu))}
        amounts |= {} if mem is None else {"mem": parse_size(str(mem))}
        return amounts | {
            slot: slots.parse_amount(slot, str(amount)) for slot, amount in (accelerators or {}).items()
        }
    except ValueError as wrong:
        raise CarrelError("client.bad_amount", f"{wrong}.", status=422) from None


def accepted_groups(group: str | Sequence[str] | None) -> dict[str, Any]:
    """The fields of a request for one resource group, or for several in order of preference; None: not given."""
    groups = [group] if isinstance(group, str) else list(group or ())
    return {"group": groups[0] if groups else None, "alternative_groups": groups[1:] or None}


def require_running(session: Session) -> Session:
    """The session. Raises: SessionFailedError when it has ended."""
    if session.ended:
        raise CarrelError(
            "client.session_failed",
            f"Session {session.name} is {session.state}: {session.reason or 'no reason given'}",
            status=409,
            hint=f"carrel session history {session.id}",
        )
    return session


def log_lines(blocks: Iterator[bytes]) -> Iterator[LogLine]:
    """The lines of a log that arrives as JSON in blocks."""
    rest = b""
    parts: dict[str, str] = {}
    for block in blocks:
        *complete, rest = (rest + block).split(b"\n")
        for one in map(json.loads, complete):
            text = parts.pop(one["stream"], "") + one["text"]
            if one.get("partial"):
                parts[one["stream"]] = text
            else:
                yield _log_line(text, one["stream"], one["at"])
    for stream, text in parts.items():
        yield _log_line(text, stream, None)


def _log_line(text: str, stream: Any, at: str | None) -> LogLine:
    line = LogLine(text)
    line.stream = stream
    # Nine decimals are more than a datetime has.
    line.at = _time(f"{at[:26]}+00:00") if at else None
    return line


def _text(at: datetime | None) -> str | None:
    return at.isoformat() if at else None


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
