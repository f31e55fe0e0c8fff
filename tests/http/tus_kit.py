"""Uploads as a tus client makes them: its headers and requests, and a connection that has only begun to send."""

import base64
import contextlib
import os
import socket
from collections.abc import Iterator

import httpx2
from files_kit import Folder
from installation import Api
from people import eventually

VERSION = {"Tus-Resumable": "1.0.0"}
BYTES = {**VERSION, "Content-Type": "application/offset+octet-stream"}


def metadata(path: str, **more: str) -> dict[str, str]:
    pairs = {"path": path, **more}.items()
    return {"Upload-Metadata": ",".join(f"{k} {base64.b64encode(v.encode()).decode()}" for k, v in pairs)}


async def begun(data: Folder, path: str, length: int | None, **more: str) -> str:
    """The address of a new upload, below the folder's."""
    known = {"Upload-Defer-Length": "1"} if length is None else {"Upload-Length": str(length)}
    answer = await data.post("/uploads", headers={**VERSION, **known, **metadata(path, **more)})
    assert answer.status_code == 201, answer.text
    assert answer.headers["tus-resumable"] == "1.0.0"
    return "/" + answer.headers["location"]


async def patch(data: Folder, upload: str, offset: int, content: object, **headers: str) -> httpx2.Response:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return await data.ask(
        "PATCH", upload, headers={**BYTES, "Upload-Offset": str(offset), **names}, content=content
    )


async def arrived(data: Folder, upload: str) -> int:
    answer = await data.ask("HEAD", upload, headers=VERSION)
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    return int(answer.headers["upload-offset"])


def staged(data: Folder) -> list[str]:
    return sorted(name for name in os.listdir(data.stage) if name != ".lock")


async def basic(api: Api, data: Folder) -> str:
    assert data.owner.actor is not None
    return str(httpx2.BasicAuth(*await api.keypair(data.owner.actor))._auth_header)


@contextlib.contextmanager
def line(api: Api, data: Folder, upload: str, offset: int, length: int, auth: str) -> Iterator[socket.socket]:
    """A connection that has begun to send so many bytes."""
    with socket.create_connection(("127.0.0.1", api.port)) as connection:
        head = (
            f"PATCH /api/v1/vfolders/{data.id}{upload} HTTP/1.1\r\nHost: x\r\nAuthorization: {auth}\r\n"
            f"Tus-Resumable: 1.0.0\r\nContent-Type: application/offset+octet-stream\r\n"
            f"Upload-Offset: {offset}\r\nContent-Length: {length}\r\n\r\n"
        )
        connection.sendall(head.encode())
        yield connection


async def size_of(data: Folder, size: int) -> None:
    async def grown() -> bool:
        return any((data.stage / name).stat().st_size >= size for name in staged(data))

    assert await eventually(grown)
