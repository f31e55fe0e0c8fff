"""Images of containers: `optional.Committing`.

The daemon's own commit takes every file that a container wrote, and later layers only hide files of earlier ones. So
its result is used only to read from: the files that belong into the image are copied into a container that was just
created from the same image, and that one is committed.

    container --commit--> copy of all files --export, filter--> new container of the same image --commit--> image

Everything but the image is scratch, which `discard` finds by labels after any crash.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import aiodocker

from carrel.engines.docker.api import ANSWER_S, START_S, DockerApi, filters
from carrel.engines.docker.changed_files import ChangedFiles, changed_files
from carrel.engines.docker.container_config import (
    LABEL_COMMIT,
    LABEL_COMMIT_OF,
    LABEL_EPOCH,
    LABEL_FILES,
    LABEL_ID,
    LABEL_INSTALLATION,
    LABEL_NETWORK,
    LABEL_SCRATCH,
    LABEL_USER,
    Names,
)
from carrel.engines.docker.tar_filter import END, Choice, TarFilter
from carrel.engines.optional import CommittedImage, ImageInfo
from carrel.engines.port import LOCAL_IMAGES, EngineError, Progress, ProgressSink

_COPY_S = 3600.0
_REMOVE_S = 300.0
_ARGUMENTS_BYTES = 1 << 20
_REST = {
    "NetworkMode": "none",
    "CapDrop": ["ALL"],
    "CapAdd": ["DAC_OVERRIDE", "FOWNER"],
    "SecurityOpt": ["no-new-privileges:true"],
    "Memory": 512 << 20,
    "MemorySwap": 512 << 20,
    "NanoCpus": 1_000_000_000,
    "PidsLimit": 64,
    "LogConfig": {"Type": "none", "Config": {}},
}
"""Its rm is a program of the session's image."""


class Commits:
    """Commits of one installation."""

    def __init__(self, api: DockerApi, names: Names) -> None:
        self._api = api
        self._names = names

    async def commit(
        self, name: str, reference: str, key: str, left_out: Collection[str], progress: ProgressSink
    ) -> CommittedImage:
        """Implements `Committing.commit`. name: the daemon's name of the container. Raises: DockerError."""
        await self._clear(key)
        there = await self._api.call("GET", f"containers/{name}/json")
        base = await self._api.call("GET", f"images/{there['Image']}/json")
        try:
            # 1. A copy of all its files; its processes are paused meanwhile.
            progress(Progress("copy"))
            copy, files = await self._copied(name, there, key, left_out)
            # 2. Those that belong into the image, in a new container of its image.
            read = await self._created("from", key, {"Image": copy["Id"]})
            write = await self._created("to", key, {"Image": base["Id"], **_removal(files.deleted)})
            if files.deleted:
                await self._remove_deleted(write)
            await self._transfer(read, write, files, progress, size=max(copy["Size"], 1))
            # 3. The image.
            progress(Progress("commit", 1.0))
            return await self._committed(write, reference, key, base)
        finally:
            await self._clear(key)

    async def commits(self) -> Collection[str]:
        """Implements `Committing.commits`."""
        chosen = filters(label=[f"{LABEL_COMMIT_OF}={self._names.installation}"])
        images = await self._api.call("GET", "images/json", params=chosen)
        containers = await self._scratch_containers()
        keys = {
            *(one["Labels"].get(LABEL_COMMIT) for one in images if not _is_pulled(one)),
            *(one["Labels"][LABEL_SCRATCH] for one in containers),
        }
        # Images that sessions are started from may have any labels.
        return {key for key in keys if key}

    async def discard(self, key: str) -> None:
        """Implements `Committing.discard_commit`. Raises: DockerError."""
        await self._clear(key)
        for image in await self._images(key):
            for reference in _references(image):
                # Other names are those of the image in a registry, to which it was pushed.
                if reference.startswith(LOCAL_IMAGES):
                    await self._remove_image(reference)

    async def _copied(
        self, name: str, there: Any, key: str, left_out: Collection[str]
    ) -> tuple[Any, ChangedFiles]:
        before = await self._api.call("GET", f"containers/{name}/changes", timeout_s=START_S)
        labels = {**self._labels(key), LABEL_SCRATCH: key}
        made = await self._api.call(
            "POST",
            "commit",
            params={"container": name},
            # Without the labels by which containers of sessions are found.
            body={
                "Labels": {
                    **labels,
                    **dict.fromkeys((LABEL_INSTALLATION, LABEL_ID, LABEL_EPOCH, LABEL_NETWORK), ""),
                }
            },
            timeout_s=_COPY_S,
        )
        after = await self._api.call("GET", f"containers/{name}/changes", timeout_s=START_S)
        mounted = [one["Destination"].rstrip("/") for one in there["Mounts"]]
        given = json.loads((there["Config"]["Labels"] or {}).get(LABEL_FILES) or "[]")
        files = changed_files(before, after, {*left_out, *mounted, *given})
        return await self._api.call("GET", f"images/{made['Id']}/json"), files

    async def _created(self, purpose: str, key: str, body: dict[str, object]) -> str:
        name = f"{self._names.network}-commit-{key}-{purpose}"
        labels = {**self._labels(key), LABEL_SCRATCH: key}
        body = {
            "User": "0:0",
            "Entrypoint": [""],
            "Cmd": ["/none"],
            "Labels": labels,
            "HostConfig": _REST,
            **body,
        }
        await self._api.call("POST", "containers/create", params={"name": name}, body=body, timeout_s=START_S)
        return name

    async def _remove_deleted(self, name: str) -> None:
        refused = EngineError(
            "Files of its image were deleted in the session, and no program rm of the image deleted them from "
            "the new one.",
            retriable=False,
            code="commit_failed",
        )
        try:
            await self._api.call("POST", f"containers/{name}/start", timeout_s=START_S)
        except aiodocker.DockerError as error:
            raise refused from error
        try:
            # Not the request's own limit, which would pass for an outage of the daemon.
            async with asyncio.timeout(_REMOVE_S):
                ended = await self._api.call(
                    "POST", f"containers/{name}/wait", timeout_s=_REMOVE_S + ANSWER_S
                )
        except TimeoutError as error:
            raise refused from error
        if ended["StatusCode"] != 0:
            raise refused

    async def _transfer(
        self, read: str, write: str, files: ChangedFiles, progress: ProgressSink, *, size: int
    ) -> None:
        async def selected() -> AsyncIterator[bytes]:
            done = 0
            for choose in (files.chosen, files.linked):
                if choose == files.linked and not files.links:
                    continue
                async for chunk, count in self._filtered(read, choose):
                    done += count
                    progress(Progress("read", min(done / size, 1.0)))
                    if chunk:
                        yield chunk
            for link in files.further_links():
                yield link
            yield END

        path = f"containers/{write}/archive"
        async with self._api.stream("PUT", path, params={"path": "/"}, body=selected()) as content:
            await content.read()

    async def _filtered(self, read: str, choose: Choice) -> AsyncIterator[tuple[bytes, int]]:
        chosen = TarFilter(choose)
        async with self._api.stream("GET", f"containers/{read}/export") as content:
            async for chunk in content.iter_any():
                yield b"".join(chosen.feed(chunk)), len(chunk)

    async def _committed(self, name: str, reference: str, key: str, base: Any) -> CommittedImage:
        config = base["Config"]
        entrypoint, command = config.get("Entrypoint"), config.get("Cmd")
        if not entrypoint:
            command = command or ["/bin/sh"]
        # An empty one would be taken from the container.
        instructions = {"ENTRYPOINT": entrypoint, "CMD": command}
        changes = [f"{name} {json.dumps(value)}" for name, value in instructions.items() if value]
        changes.append(f"USER {config.get('User') or 'root'}")
        repository, _, tag = reference.rpartition(":")
        await self._api.call(
            "POST",
            "commit",
            params={"container": name, "repo": repository, "tag": tag, "changes": "\n".join(changes)},
            body={"Labels": {**self._labels(key), LABEL_SCRATCH: "", LABEL_USER: "work"}},
            timeout_s=_COPY_S,
        )
        made = await self._api.call("GET", f"images/{reference}/json")
        info = ImageInfo(made["Id"], made["Size"], made["Architecture"], made["Config"].get("Labels") or {})
        return CommittedImage(info, max(made["Size"] - base["Size"], 0))

    async def _clear(self, key: str) -> None:
        """Remove scratch of the commit, and its images that have lost their reference to a newer one."""
        for container in await self._scratch_containers(key):
            with _unless_absent():
                await self._api.call(
                    "DELETE", f"containers/{container['Id']}", params={"force": "true"}, timeout_s=START_S
                )
        for image in await self._images(key):
            if not _references(image) and not _is_pulled(image):
                await self._remove_image(image["Id"])

    async def _scratch_containers(self, key: str = "") -> Any:
        labels = [
            f"{LABEL_COMMIT_OF}={self._names.installation}",
            f"{LABEL_SCRATCH}={key}" if key else LABEL_SCRATCH,
        ]
        rows = await self._api.call("GET", "containers/json", params={**filters(label=labels), "all": "true"})
        # Containers of sessions may have inherited the empty label of their image.
        return [row for row in rows if row["Labels"][LABEL_SCRATCH]]

    async def _images(self, key: str) -> Any:
        chosen = filters(label=[f"{LABEL_COMMIT_OF}={self._names.installation}", f"{LABEL_COMMIT}={key}"])
        return await self._api.call("GET", "images/json", params=chosen)

    async def _remove_image(self, reference: str) -> None:
        try:
            with _unless_absent():
                await self._api.call("DELETE", f"images/{reference}")
        except aiodocker.DockerError as error:
            if error.status != 409:
                raise
            raise EngineError(
                "The image is in use by a container.", retriable=True, code="image_in_use"
            ) from error

    def _labels(self, key: str) -> dict[str, str]:
        return {LABEL_COMMIT: key, LABEL_COMMIT_OF: self._names.installation}


def _references(image: Any) -> Sequence[str]:
    return [one for one in image["RepoTags"] or () if one != "<none>:<none>"]


def _is_pulled(image: Any) -> bool:
    """True if it is here only because it was pulled from a registry, to which it was pushed before."""
    digests = [one for one in image.get("RepoDigests") or () if not one.endswith("@<none>")]
    return bool(digests) and not any(one.startswith(LOCAL_IMAGES) for one in _references(image))


def _removal(paths: Sequence[str]) -> dict[str, object]:
    """Configuration of a container that deletes these files. Raises: EngineError for more than a command can have."""
    if sum(len(path.encode()) + 1 for path in paths) > _ARGUMENTS_BYTES:
        raise EngineError(
            f"{len(paths)} files of its image were deleted in the session, which are too many to leave out of the "
            "new one.",
            retriable=False,
            code="commit_failed",
        )
    return {"Cmd": ["rm", "-rf", "--", *paths]} if paths else {}


@contextmanager
def _unless_absent() -> Iterator[None]:
    try:
        yield
    except aiodocker.DockerError as error:
        if error.status != 404:
            raise
