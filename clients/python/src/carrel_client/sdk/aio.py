"""The asynchronous twin of the SDK, written by tools/python_async.py from its synchronous modules.

Everything that sends a request is a coroutine or an asynchronous iterator; attributes are the same.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from carrel_client import models
from carrel_client.outcome import Transfer
from carrel_client.sdk import threads
from carrel_client.sdk.client import Carrel
from carrel_client.sdk.folders import Clash, Folder, Folders
from carrel_client.sdk.imports import Imports
from carrel_client.sdk.sessions import (
    App,
    AppAccess,
    ExecResult,
    LogLine,
    LogStream,
    Session,
    Sessions,
    Until,
)
from carrel_client.sdk.templates import Template, Templates


class AsyncApp:
    """An app of a session, such as JupyterLab."""

    def __init__(self, sync: App) -> None:
        self._sync = sync

    @property
    def name(self) -> str:
        """The name of the app, such as "jupyter"."""
        return self._sync.name

    async def url(self) -> str:
        """A link that opens the app in a browser, once and within 30 seconds. Starts the app if necessary."""
        return await threads.call(lambda: self._sync.url())

    async def connect(self) -> AppAccess:
        """Address and headers for a program. Starts the app if necessary.

        The headers hold a token for this app alone, which never reaches the session.
        """
        return await threads.call(lambda: self._sync.connect())


class AsyncSession:
    """A compute session. Attributes are as of the last answer; `refresh()` fetches them again."""

    def __init__(self, sync: Session) -> None:
        self._sync = sync

    def __repr__(self) -> str:
        return repr(self._sync)

    @property
    def raw(self) -> models.SessionDetail | models.SessionView:
        """The answer of the API that this object holds."""
        return self._sync.raw

    @property
    def id(self) -> str:
        """The id, unique for ever."""
        return self._sync.id

    @property
    def name(self) -> str:
        """The name, unique among the live sessions of its owner."""
        return self._sync.name

    @property
    def state(self) -> models.SessionState:
        """PENDING, SCHEDULED, PREPARING, STARTING, RUNNING, TERMINATING, TERMINATED, CANCELLED or ERROR."""
        return self._sync.state

    @property
    def running(self) -> bool:
        """Whether the state is RUNNING."""
        return self._sync.running

    @property
    def ended(self) -> bool:
        """Whether the state is TERMINATED, CANCELLED or ERROR."""
        return self._sync.ended

    @property
    def reason(self) -> str | None:
        """Why it is pending, failed or ended."""
        return self._sync.reason

    @property
    def result(self) -> models.Result | None:
        """Result of a batch session that has ended: success, failure, timed_out or cancelled."""
        return self._sync.result

    @property
    def exit_code(self) -> int | None:
        """Exit code of its main process, once it is known. Lists do not contain it: `refresh()` fetches it."""
        return self._sync.exit_code

    @property
    def image(self) -> str:
        """The image it runs."""
        return self._sync.image

    @property
    def owner(self) -> models.OwnerRef:
        """Whose it is."""
        return self._sync.owner

    @property
    def project(self) -> models.ProjectRef:
        """The project it belongs to."""
        return self._sync.project

    @property
    def group(self) -> models.GroupRef:
        """The resource group it is scheduled in."""
        return self._sync.group

    @property
    def node(self) -> str | None:
        """The node it runs on; None before it is placed, or where nodes are not shown."""
        return self._sync.node

    @property
    def cluster_size(self) -> int:
        """The number of its containers."""
        return self._sync.cluster_size

    @property
    def array(self) -> models.ArrayView | None:
        """The array that it belongs to, with the numbers of its sessions by state and result."""
        return self._sync.array

    @property
    def cpu(self) -> float:
        """Cores."""
        return self._sync.cpu

    @property
    def mem_bytes(self) -> int:
        """Memory in bytes."""
        return self._sync.mem_bytes

    @property
    def slots(self) -> dict[str, int]:
        """All amounts in base units: cpu in millicores, mem in bytes, accelerators by slot."""
        return self._sync.slots

    @property
    def priority(self) -> int:
        """0 to 100; higher starts first."""
        return self._sync.priority

    @property
    def queue_position(self) -> int | None:
        """The place in the queue while pending; 1 is next."""
        return self._sync.queue_position

    @property
    def created_at(self) -> datetime:
        """When it was requested, in UTC."""
        return self._sync.created_at

    @property
    def started_at(self) -> datetime | None:
        """When it started to run."""
        return self._sync.started_at

    @property
    def ended_at(self) -> datetime | None:
        """When it ended."""
        return self._sync.ended_at

    async def refresh(self) -> AsyncSession:
        """This object with the current attributes."""
        await threads.call(lambda: self._sync.refresh())
        return self

    async def wait(self, until: Until = "running", *, timeout_s: float | None = None) -> AsyncSession:
        """This object as soon as the session runs, or has ended.

        Raises: SessionFailedError when it ends instead of running; WaitTimeoutError.
        """
        await threads.wait(self._sync, until, timeout_s)
        return self

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
    ) -> AsyncIterator[LogLine]:
        """The lines of its log, which are strings with the time and the stream; with follow, those to come too, until
        it ends.

        tail: only the last lines. since: from then on. until: before. search: only lines with this text, in any case.
        container: default main. attempt: only this life of the container, from 1.
        """
        return threads.iterate(
            lambda: self._sync.logs(
                follow=follow,
                tail=tail,
                since=since,
                until=until,
                search=search,
                stream=stream,
                container=container,
                attempt=attempt,
            ),
            lambda item: item,
        )

    async def exec(
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
        return await threads.call(lambda: self._sync.exec(command, stdin=stdin, env=env, container=container))

    async def rename(self, name: str) -> AsyncSession:
        """This object with another name."""
        await threads.call(lambda: self._sync.rename(name))
        return self

    async def terminate(
        self, *, force: bool = False, signal: str | None = None, grace: float | str | None = None
    ) -> AsyncSession:
        """This object, terminating; or cancelled when it was pending. A second call changes nothing.

        force: it has ended on return, even if the engine does not respond. signal, grace: sent to its main process, and
        the time until it is killed; default: as requested with the session.
        """
        await threads.call(lambda: self._sync.terminate(force=force, signal=signal, grace=grace))
        return self

    async def restart(self) -> AsyncSession:
        """This object, restarting in place with new containers; it keeps its slots and folders."""
        await threads.call(lambda: self._sync.restart())
        return self

    async def extend(self, time: float | str) -> AsyncSession:
        """This object with a longer time limit. time: added to it, in seconds or "2h"."""
        await threads.call(lambda: self._sync.extend(time))
        return self

    async def resize(
        self, *, cpu: float | str | None = None, mem: int | str | None = None, container: str | None = None
    ) -> AsyncSession:
        """This object, whose CPU and memory change within seconds; refresh() shows when.

        cpu: cores. mem: bytes or "4g". container: of a cluster session, default main.
        """
        await threads.call(lambda: self._sync.resize(cpu=cpu, mem=mem, container=container))
        return self

    async def again(self, *, exact_image: bool = False) -> AsyncSession:
        """Another session with the present definition of this one.

        exact_image: by the digest of the image that it ran, whatever its tag means now.
        """
        await threads.call(lambda: self._sync.again(exact_image=exact_image))
        return self

    async def share(
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
        return await threads.call(
            lambda: self._sync.share(with_user, project=project, level=level, expires=expires)
        )

    async def shares(self) -> list[models.SessionShareView]:
        """Who has access by a share, and until when, oldest first."""
        return await threads.call(lambda: self._sync.shares())

    async def unshare(self, share: str) -> None:
        """Revoke a share, by its id or by its recipient. What they opened is closed at once."""
        return await threads.call(lambda: self._sync.unshare(share))

    async def leave(self) -> models.LeftSession:
        """End your own access to it, if another user shares it with you. Shares with your projects remain."""
        return await threads.call(lambda: self._sync.leave())

    async def history(self) -> list[models.HistoryView]:
        """Every state transition with time, cause and actor, oldest first."""
        return await threads.call(lambda: self._sync.history())

    async def timeline(self) -> models.SessionTimeline:
        """The steps of its last start with their times: queue, mounts, image, container, apps."""
        return await threads.call(lambda: self._sync.timeline())

    async def why(self) -> models.WhyView:
        """Why it is pending: position in the queue, limits and nodes in the way, expected start."""
        return await threads.call(lambda: self._sync.why())

    async def graph(self) -> models.SessionGraph:
        """The sessions that it starts after and those that start after it, directly or not."""
        return await threads.call(lambda: self._sync.graph())

    async def usage(
        self,
        *,
        minutes: int | None = None,
        from_: str | None = None,
        to: str | None = None,
        container: str | None = None,
        step: int | None = None,
    ) -> models.SessionUsageView:
        """Measured usage of each container over a period, oldest first. step: seconds."""
        return await threads.call(
            lambda: self._sync.usage(minutes=minutes, from_=from_, to=to, container=container, step=step)
        )

    async def apps(self) -> list[models.AppView]:
        """The apps of the session, and whether each answers."""
        return await threads.call(lambda: self._sync.apps())

    def app(self, name: str) -> AsyncApp:
        """One app by its name. No request is sent before it is used."""
        return AsyncApp(self._sync.app(name))


class AsyncSessions:
    """Creates and finds sessions."""

    def __init__(self, sync: Sessions) -> None:
        self._sync = sync

    async def create(
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
    ) -> AsyncSession:
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
        return AsyncSession(
            await threads.call(
                lambda: self._sync.create(
                    image,
                    cpu=cpu,
                    mem=mem,
                    accelerators=accelerators,
                    name=name,
                    description=description,
                    env=env,
                    mounts=mounts,
                    command=command,
                    retries=retries,
                    array=array,
                    start_at=start_at,
                    cluster_size=cluster_size,
                    roles=roles,
                    placement=placement,
                    topology=topology,
                    on_failure=on_failure,
                    project=project,
                    group=group,
                    priority=priority,
                    time_limit=time_limit,
                    node=node,
                    after=after,
                    on_dependency_failure=on_dependency_failure,
                    bootstrap=bootstrap,
                    shm=shm,
                    workdir=workdir,
                    timezone=timezone,
                    locale=locale,
                    stop_signal=stop_signal,
                    grace=grace,
                    root=root,
                    disk=disk,
                    replaces=replaces,
                    idempotency_key=idempotency_key,
                )
            )
        )

    async def get(self, ref: str) -> AsyncSession:
        """A session by id, unique prefix of an id, or name. Raises: NotFoundError."""
        return AsyncSession(await threads.call(lambda: self._sync.get(ref)))

    def list(
        self,
        *,
        state: str = "all",
        search: str | None = None,
        owner: str | None = None,
        project: str | None = None,
        array: str | None = None,
        sort: str | None = None,
    ) -> AsyncIterator[AsyncSession]:
        """Sessions, newest first, fetched page by page.

        state: "live", "ended", "all" or a state in either case. owner: "me" (the default), "shared"
        (with you), "all", or an id or e-mail.
        search: part of the name or image. array: only the sessions of this one, by its id.
        sort: a field, with "-" before it in descending order.
        """
        return threads.iterate(
            lambda: self._sync.list(
                state=state, search=search, owner=owner, project=project, array=array, sort=sort
            ),
            AsyncSession,
        )


class AsyncFolder:
    """A folder of files that sessions can mount. Paths in it are relative, with / between names."""

    def __init__(self, sync: Folder) -> None:
        self._sync = sync

    def __repr__(self) -> str:
        return repr(self._sync)

    @property
    def raw(self) -> models.VFolderView:
        """The answer of the API that this object holds."""
        return self._sync.raw

    @property
    def id(self) -> str:
        """The id, unique for ever."""
        return self._sync.id

    @property
    def name(self) -> str:
        """The name, under which sessions mount it in /home/work."""
        return self._sync.name

    @property
    def state(self) -> models.FolderState:
        """The state, such as "active" or "trash"."""
        return self._sync.state

    @property
    def used_bytes(self) -> int:
        """Size of its files when last measured."""
        return self._sync.used_bytes

    async def refresh(self) -> AsyncFolder:
        """This object with the current attributes."""
        await threads.call(lambda: self._sync.refresh())
        return self

    def ls(self, path: str = "") -> AsyncIterator[models.FileView]:
        """What a directory holds, directories first, fetched page by page."""
        return threads.iterate(lambda: self._sync.ls(path), lambda item: item)

    async def upload(
        self, sources: str | os.PathLike[str] | Sequence[str], to: str = "", *, clash: Clash = "refuse"
    ) -> Transfer:
        """Upload files and directories from this machine into a directory of the folder; resumable.

        A directory goes under its own name; with a slash at the end only its content. clash: what happens to a
        file that exists: "refuse", "replace", "rename" or "skip". Raises: CarrelError for the first file that failed.
        """
        return await threads.call(lambda: self._sync.upload(sources, to, clash=clash))

    async def download(
        self, paths: str | Sequence[str], to: str | os.PathLike[str] = ".", *, clash: Clash = "refuse"
    ) -> Transfer:
        """Download files and directories into a directory of this machine. "" is the whole folder. As `upload` else."""
        return await threads.call(lambda: self._sync.download(paths, to, clash=clash))

    async def read(self, path: str) -> bytes:
        """The content of a file."""
        return await threads.call(lambda: self._sync.read(path))

    async def write(self, path: str, content: bytes | str, *, new: bool = False) -> models.FileView:
        """Create or replace a file as a whole. new: only if there is none. Raises: ConflictError."""
        return await threads.call(lambda: self._sync.write(path, content, new=new))

    async def mkdir(self, path: str) -> models.FileView:
        """Create a directory, and its parents."""
        return await threads.call(lambda: self._sync.mkdir(path))

    async def rm(self, *paths: str) -> models.FilesDone:
        """Delete files and directories."""
        return await threads.call(lambda: self._sync.rm(*paths))

    async def trash(self) -> AsyncFolder:
        """This object, moved to the trash. It must not be mounted in a live session."""
        await threads.call(lambda: self._sync.trash())
        return self


class AsyncFolders:
    """Creates and finds folders."""

    def __init__(self, sync: Folders) -> None:
        self._sync = sync

    async def create(
        self,
        name: str,
        *,
        project: str | None = None,
        host: str | None = None,
        idempotency_key: str | None = None,
    ) -> AsyncFolder:
        """A new folder, of your own or of a project. host: the storage host, by id or name."""
        return AsyncFolder(
            await threads.call(
                lambda: self._sync.create(name, project=project, host=host, idempotency_key=idempotency_key)
            )
        )

    async def get(self, ref: str) -> AsyncFolder:
        """A folder by id or name. Raises: NotFoundError."""
        return AsyncFolder(await threads.call(lambda: self._sync.get(ref)))

    def list(self, *, search: str | None = None, project: str | None = None) -> AsyncIterator[AsyncFolder]:
        """Folders that you can use, by name, fetched page by page. search: part of the name."""
        return threads.iterate(lambda: self._sync.list(search=search, project=project), AsyncFolder)


class AsyncTemplate:
    """A saved definition of sessions, with parameters."""

    def __init__(self, sync: Template) -> None:
        self._sync = sync

    def __repr__(self) -> str:
        return repr(self._sync)

    @property
    def raw(self) -> models.TemplateView:
        """The answer of the API that this object holds."""
        return self._sync.raw

    @property
    def id(self) -> str:
        """The id, unique for ever."""
        return self._sync.id

    @property
    def name(self) -> str:
        """The name."""
        return self._sync.name

    @property
    def revision(self) -> int:
        """From 1; each change adds 1."""
        return self._sync.revision

    @property
    def parameters(self) -> list[models.Parameter]:
        """What a start can give values for."""
        return self._sync.parameters

    async def refresh(self) -> AsyncTemplate:
        """This object with the current attributes."""
        await threads.call(lambda: self._sync.refresh())
        return self

    async def start(
        self,
        parameters: Mapping[str, str | float | bool] | None = None,
        *,
        name: str | None = None,
        project: str | None = None,
        group: str | Sequence[str] | None = None,
        cpu: float | str | None = None,
        mem: int | str | None = None,
        accelerators: Mapping[str, float | str] | None = None,
        priority: int | None = None,
        time_limit: float | str | None = None,
        start_at: datetime | None = None,
        idempotency_key: str | None = None,
    ) -> AsyncSession:
        """A new session from the template, PENDING. parameters: values by name.

        The other arguments are those of `Sessions.create`, and replace what the template has.
        """
        return AsyncSession(
            await threads.call(
                lambda: self._sync.start(
                    parameters,
                    name=name,
                    project=project,
                    group=group,
                    cpu=cpu,
                    mem=mem,
                    accelerators=accelerators,
                    priority=priority,
                    time_limit=time_limit,
                    start_at=start_at,
                    idempotency_key=idempotency_key,
                )
            )
        )

    async def update(
        self,
        *,
        name: str | None = None,
        description: str | None = None,
        shared: bool | None = None,
        session: Mapping[str, Any] | None = None,
        parameters: Sequence[models.Parameter] | None = None,
    ) -> AsyncTemplate:
        """Change the template, if this object has its latest revision. Raises: CarrelError with status 412."""
        await threads.call(
            lambda: self._sync.update(
                name=name, description=description, shared=shared, session=session, parameters=parameters
            )
        )
        return self

    async def delete(self) -> None:
        """Delete the template; sessions that were started from it are unaffected."""
        return await threads.call(lambda: self._sync.delete())


class AsyncTemplates:
    """Saves and finds templates."""

    def __init__(self, sync: Templates) -> None:
        self._sync = sync

    async def create(
        self,
        name: str,
        session: Mapping[str, Any] | None = None,
        *,
        from_session: str | None = None,
        parameters: Sequence[models.Parameter] = (),
        description: str = "",
        shared: bool = False,
    ) -> AsyncTemplate:
        """A new template.

        session: a definition, as in a file of `carrel session create -f`, whose texts refer to parameters as ${name}.
        from_session: instead, the id or name of a session of yours. shared: its project's members see and start it.
        """
        return AsyncTemplate(
            await threads.call(
                lambda: self._sync.create(
                    name,
                    session,
                    from_session=from_session,
                    parameters=parameters,
                    description=description,
                    shared=shared,
                )
            )
        )

    async def get(self, ref: str) -> AsyncTemplate:
        """A template by id, or by the name of one that you can start. Raises: NotFoundError."""
        return AsyncTemplate(await threads.call(lambda: self._sync.get(ref)))

    def list(
        self,
        *,
        owner: models.TemplateOwner | None = None,
        search: str | None = None,
        project: str | None = None,
    ) -> AsyncIterator[AsyncTemplate]:
        """Templates by name, fetched page by page.

        owner: "me", "usable" (the default: yours and those shared in your projects) or "all" that you may see.
        """
        return threads.iterate(
            lambda: self._sync.list(owner=owner, search=search, project=project), AsyncTemplate
        )


class AsyncImports:
    """Fetches sources into sessions and folders, by their address."""

    def __init__(self, sync: Imports) -> None:
        self._sync = sync

    async def preview(
        self,
        url: str,
        *,
        kind: models.SourceKind | None = None,
        ref: str | None = None,
        path: str | None = None,
        folder: str | None = None,
        image: str | None = None,
        install: bool = False,
        credentials: models.ImportCredentials = "none",
    ) -> models.ImportPreview:
        """What an import would do, with its script. Starts nothing."""
        return await threads.call(
            lambda: self._sync.preview(
                url,
                kind=kind,
                ref=ref,
                path=path,
                folder=folder,
                image=image,
                install=install,
                credentials=credentials,
            )
        )

    async def start(
        self,
        url: str,
        *,
        kind: models.SourceKind | None = None,
        ref: str | None = None,
        path: str | None = None,
        folder: str | None = None,
        image: str | None = None,
        install: bool = False,
        token: str | None = None,
        key: str | None = None,
        name: str | None = None,
        project: str | None = None,
        group: str | None = None,
        cpu: float | str | None = None,
        mem: int | str | None = None,
        accelerators: Mapping[str, float | str] | None = None,
    ) -> AsyncSession:
        """A new session that fetches the source: a batch session that ends if it fetches into a folder.

        token: of a private source. key: instead, a private SSH key. They become a variable of the session.
        """
        return AsyncSession(
            await threads.call(
                lambda: self._sync.start(
                    url,
                    kind=kind,
                    ref=ref,
                    path=path,
                    folder=folder,
                    image=image,
                    install=install,
                    token=token,
                    key=key,
                    name=name,
                    project=project,
                    group=group,
                    cpu=cpu,
                    mem=mem,
                    accelerators=accelerators,
                )
            )
        )


class AsyncCarrel:
    """A Carrel server, for asyncio. As `Carrel` else."""

    def __init__(
        self,
        url: str,
        access_key: str | None = None,
        secret_key: str | None = None,
        *,
        token: str | None = None,
        timeout_s: float = 60.0,
    ) -> None:
        self._sync = Carrel(url, access_key, secret_key, token=token, timeout_s=timeout_s)

    @classmethod
    def from_environment(cls, profile: str | None = None, *, timeout_s: float = 60.0) -> AsyncCarrel:
        """As `Carrel.from_environment`."""
        made = cls.__new__(cls)
        made._sync = Carrel.from_environment(profile, timeout_s=timeout_s)
        return made

    async def aclose(self) -> None:
        """Close idle connections. The client stays usable."""
        self._sync.close()

    async def __aenter__(self) -> AsyncCarrel:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.aclose()

    @property
    def url(self) -> str:
        """The address of the server."""
        return self._sync.url

    @property
    def sessions(self) -> AsyncSessions:
        """Create, get and list sessions."""
        return AsyncSessions(self._sync.sessions)

    @property
    def folders(self) -> AsyncFolders:
        """Create, get and list folders."""
        return AsyncFolders(self._sync.folders)

    @property
    def templates(self) -> AsyncTemplates:
        """Save, get and list templates."""
        return AsyncTemplates(self._sync.templates)

    @property
    def imports(self) -> AsyncImports:
        """Preview and start imports of notebooks, repositories and archives."""
        return AsyncImports(self._sync.imports)

    async def me(self) -> models.Me:
        """The current user, with projects and permitted actions."""
        return await threads.call(lambda: self._sync.me())

    async def images(self) -> list[models.ImageView]:
        """The images in the catalogue."""
        return await threads.call(lambda: self._sync.images())

    def events(self, *, last_event_id: str | None = None) -> AsyncIterator[models.EventView]:
        """Every event from now on, or after that one; reconnects by itself and never ends by itself."""
        return threads.iterate(lambda: self._sync.events(last_event_id=last_event_id), lambda item: item)
