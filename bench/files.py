"""Files in and out of a folder against nginx (dav and static) and cp on the same disk; listing; zip streams; memory."""

import asyncio
import base64
import os
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import psutil

from bench.control_plane import EMAIL, ControlPlane, control_plane, created
from bench.load import median
from bench.page import discarded, uploaded
from bench.programs import PATH
from bench.table import Line

_ROUNDS = 3
_BIG = 1 << 30
_SMALL, _SMALL_BYTES = 10_000, 4096
_AT_ONCE = 8
_LISTED = 100_000
_MIB = 1 << 20
_NGINX = """
worker_processes 1; daemon off; pid {root}/pid; error_log {root}/errors; user root;
events {{ }}
http {{
  access_log off; sendfile on; client_max_body_size 0; client_body_buffer_size 1m; keepalive_requests 1000000;
  client_body_temp_path {root}/body; proxy_temp_path {root}/proxy; fastcgi_temp_path {root}/fastcgi;
  uwsgi_temp_path {root}/uwsgi; scgi_temp_path {root}/scgi;
  server {{ listen 127.0.0.1:{port}; root {root}/www; dav_methods PUT DELETE; create_full_put_path on; }}
}}
"""
Work = Callable[[], Awaitable[float]]


@dataclass(frozen=True)
class Setup:
    """source: a file of 1 GiB. many: a directory of small files. files: of the folder, on the same disk.

    folder: its id. ours, theirs: URLs of Carrel's API and of nginx.
    """

    own: ControlPlane
    disk: Path
    files: Path
    folder: str
    theirs: str

    @property
    def ours(self) -> str:
        return f"{self.own.url}/api/v1/vfolders/{self.folder}"

    @property
    def source(self) -> Path:
        return self.disk / "source"

    @property
    def many(self) -> Path:
        return self.disk / "many"


async def measure() -> list[Line]:
    with tempfile.TemporaryDirectory(prefix="carrel-bench-files-", dir="/var/tmp") as disk:
        root = Path(disk)
        _write_sources(root)
        async with control_plane(controllers=False) as own, _nginx(root) as theirs:
            setup = await _set_up(own, root, theirs)
            return [
                *await _large(setup),
                *await _small(setup),
                await _listing(setup),
                await _zip(setup),
            ]


def _write_sources(root: Path) -> None:
    root.chmod(0o755)
    with (root / "source").open("wb") as file:
        for _ in range(_BIG // _MIB):
            file.write(os.urandom(_MIB))
    (root / "many").mkdir()
    for number in range(_SMALL):
        (root / "many" / f"{number:05}").write_bytes(os.urandom(_SMALL_BYTES))
    os.sync()


@asynccontextmanager
async def _nginx(root: Path) -> AsyncIterator[str]:
    binary = shutil.which("nginx", path=PATH)
    assert binary
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    own = root / "nginx"
    (own / "www").mkdir(parents=True)
    (own / "conf").write_text(_NGINX.format(root=own, port=port))
    process = await asyncio.create_subprocess_exec(binary, "-p", str(own), "-c", str(own / "conf"))
    try:
        await _answering(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        with suppress(ProcessLookupError):  # already terminated with the process group
            process.terminate()
        await process.wait()


async def _answering(port: int) -> None:
    async with asyncio.timeout(10):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.05)
            else:
                writer.close()
                return


async def _set_up(own: ControlPlane, disk: Path, theirs: str) -> Setup:
    async with own.client() as client:
        host = await client.post("/storage-hosts", json={"name": "bench", "root": str(disk / "folders")})
        assert host.status_code == 201, host.text
        folder = created(await client.post("/vfolders", json={"name": "bench", "host": "bench"}))
    (files,) = (disk / "folders").glob("*/*/files")
    return Setup(own, disk, files, folder, theirs)


async def _large(setup: Setup) -> list[Line]:
    at_rest = _resident(setup)
    took = await _by_turns(
        {
            "cp": lambda: _run(f"cp {setup.source} {setup.disk}/copy && sync {setup.disk}/copy"),
            "up": lambda: _run(_upload(setup)),
            "up nginx": lambda: _run(
                f"curl -sSf -H Expect: -T {setup.source} {setup.theirs}/big && sync {setup.disk}/nginx/www/big"
            ),
            "down": lambda: _run(f"curl -sSf {_auth(setup)} -o /dev/null '{setup.ours}/content?path=big'"),
            "down nginx": lambda: _run(f"curl -sSf -o /dev/null {setup.theirs}/big"),
        }
    )
    grown = _resident(setup) - at_rest
    rates = {name: _BIG / _MIB / seconds for name, seconds in took.items()}
    return [
        Line(
            "files: upload of 1 GiB",
            f"{rates['up']:.0f} MiB/s",
            f"until on disk; cp {rates['cp']:.0f} MiB/s",
            ratio=rates["up"] / rates["up nginx"],
            floor=f"nginx dav {rates['up nginx']:.0f} MiB/s",
            goal=0.8,
            best="high",
        ),
        Line(
            "files: download of 1 GiB",
            f"{rates['down']:.0f} MiB/s",
            "from the page cache",
            ratio=rates["down"] / rates["down nginx"],
            floor=f"nginx {rates['down nginx']:.0f} MiB/s",
            goal=0.8,
            best="high",
        ),
        Line(
            "files: memory for these",
            f"{grown / _MIB:.0f} MiB",
            f"more resident after {2 * _ROUNDS} GiB",
            value=grown / _MIB,
            goal=64,
        ),
    ]


async def _small(setup: Setup) -> list[Line]:
    names = [f"{number:05}" for number in range(_SMALL)]
    config = setup.disk / "config"
    # One curl reuses its connections, as clients of both servers do.
    curl = f"curl -sS --no-progress-meter --parallel --parallel-max {_AT_ONCE} -K {config}"

    def put(base: str, auth: str) -> str:
        each = (
            f'upload-file="{setup.many}/{name}"\nurl="{base}{name}"\noutput=/dev/null\nfail\n{auth}'
            for name in names
        )
        config.write_text("next\n".join(each))
        return curl

    def get(base: str, auth: str) -> str:
        each = (f'url="{base}{name}"\noutput=/dev/null\n' for name in names)
        config.write_text("".join(each) + "fail\n" + auth)
        return curl

    carrel = f"{_account(setup)} {Path(sys.executable).parent / 'carrel'} vfolder"
    user = f'user="{":".join(setup.own.auth)}"\n'
    ours, theirs = f"{setup.ours}/content?path=one/", f"{setup.theirs}/many/"
    fresh = count()
    took = await _by_turns(
        {
            "up": lambda: _run(put(ours, user)),
            "up nginx": lambda: _run(put(theirs, "")),
            "down": lambda: _run(get(ours, user)),
            "down nginx": lambda: _run(get(theirs, "")),
            "cp": lambda: _run(f"cp -r {setup.many} {setup.disk}/copies"),
            "tree up": lambda: _run(f"{carrel} upload bench:tree {setup.many}/ -q"),
            "tree down": lambda: _run(f"{carrel} download bench:tree/ --to {setup.disk}/back -q"),
        },
        rounds=1,
    )
    # Each time to another directory. No deletions meanwhile: ext4 without a journal then takes a millisecond to
    # create a file.
    took |= await _by_turns(
        {
            "many up nginx": lambda: _run(put(f"{setup.theirs}/many-{next(fresh)}/", "")),
            "tree up": lambda: _run(f"{carrel} upload bench:tree-{next(fresh)} {setup.many}/ -q"),
            "page up": lambda: _uploaded_by_page(setup, next(fresh)),
            "browser": lambda: discarded(setup.many),
        }
    )
    rates = {name: _SMALL / seconds for name, seconds in took.items()}
    goals = {"tree up": 0.5}
    return [
        Line(
            f"files: {direction} of {_SMALL:,} small files",
            f"{rates[key]:.0f}/s",
            f"{_SMALL_BYTES} bytes, {_AT_ONCE} at once; cp {rates['cp']:.0f}/s{more}",
            ratio=rates[key] / rates[f"{floor} nginx"],
            floor=f"nginx {rates[f'{floor} nginx']:.0f}/s",
            best="high",
            goal=goals.get(key),
        )
        for direction, key, floor, more in (
            ("upload", "up", "up", "; each on disk and audited, which nginx does not do"),
            ("download", "down", "down", "; each audited"),
            ("upload by the command", "tree up", "many up", "; many in a request, each on disk and audited"),
            ("download by the command", "tree down", "down", "; many in a request, each audited"),
        )
    ] + [
        Line(
            f"files: upload of {_SMALL:,} small files by the page",
            f"{rates['page up']:.0f}/s",
            f"until all are in the folder; the browser alone, discarded: {rates['browser']:.0f}/s",
            ratio=rates["page up"] / rates["tree up"],
            floor=f"the command {rates['tree up']:.0f}/s",
            goal=0.8,
            best="high",
        )
    ]


async def _uploaded_by_page(setup: Setup, number: int) -> float:
    """Seconds. number: of this upload, whose directory is renamed afterwards."""
    directory = setup.files / "many"
    seconds = await uploaded(
        f"{setup.own.url}/data/{setup.folder}",
        EMAIL,
        setup.own.password,
        setup.many,
        until=lambda: _count(directory) == _SMALL,
    )
    directory.rename(setup.files / f"many-{number}")
    return seconds


async def _listing(setup: Setup) -> Line:
    directory = setup.files / "listed"
    directory.mkdir()
    for number in range(_LISTED):
        (directory / f"file-{number * 7919 % _LISTED:06}").touch()
    latencies = []
    async with setup.own.client() as client:
        for _ in range(9):
            began = time.perf_counter()
            answer = await client.get(f"{setup.ours}/files", params={"path": "listed"})
            latencies.append(time.perf_counter() - began)
            assert answer.json()["total"] == _LISTED
    first = median(latencies) * 1000
    return Line(
        "files: first page of 100,000", f"{first:.0f} ms", "200 of them, by name", value=first, goal=150
    )


async def _zip(setup: Setup) -> Line:
    took = await _by_turns(
        {
            "ours": lambda: _run(f"curl -sSf {_auth(setup)} -o /dev/null '{setup.ours}/archive?path=big'"),
            "zip": lambda: _run(f"cd {setup.files} && zip -0 -q - big | cat > /dev/null"),
        }
    )
    ours, floor = (_BIG / _MIB / took[name] for name in ("ours", "zip"))
    return Line(
        "files: zip stream of 1 GiB",
        f"{ours:.0f} MiB/s",
        "stored, not packed",
        ratio=ours / floor,
        floor=f"zip -0 {floor:.0f} MiB/s",
        goal=0.7,
        best="high",
    )


def _count(directory: Path) -> int:
    return len(os.listdir(directory)) if directory.exists() else 0


def _upload(setup: Setup) -> str:
    metadata = ",".join(
        f"{k} {base64.b64encode(v).decode()}" for k, v in (("path", b"big"), ("clash", b"replace"))
    )
    headers = (
        "Tus-Resumable: 1.0.0",
        f"Upload-Length: {_BIG}",
        f"Upload-Metadata: {metadata}",
        "Content-Type: application/offset+octet-stream",
        "Expect:",
    )
    named = " ".join(f"-H '{header}'" for header in headers)
    return f"curl -sSf -o /dev/null {_auth(setup)} -X POST {named} -T {setup.source} {setup.ours}/uploads"


def _account(setup: Setup) -> str:
    access, secret = setup.own.auth
    return f"CARREL_URL={setup.own.url} CARREL_ACCESS_KEY={access} CARREL_SECRET_KEY={secret}"


def _auth(setup: Setup) -> str:
    return f"-u {':'.join(setup.own.auth)}"


async def _by_turns(works: dict[str, Work], rounds: int = _ROUNDS) -> dict[str, float]:
    """Median seconds of alternating runs; with several, the first one is a warm-up."""
    took: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(rounds + (rounds > 1)):
        for name, work in works.items():
            seconds = await work()
            if turn or rounds == 1:
                took[name].append(seconds)
    return {name: median(seconds) for name, seconds in took.items()}


async def _run(command: str) -> float:
    began = time.perf_counter()
    process = await asyncio.create_subprocess_shell(command)
    assert await process.wait() == 0, command[:500]
    return time.perf_counter() - began


def _resident(setup: Setup) -> int:
    """Resident memory of the API server process."""
    return int(psutil.Process(setup.own.supervisor).memory_info().rss)
