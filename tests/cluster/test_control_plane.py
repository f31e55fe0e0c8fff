"""A whole installation with a cluster as an engine: a session from its request to its end, with a folder and an app."""

import asyncio
import json
import os
import secrets
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import cluster_images
import httpx2
import pytest
from crash.supervised import Supervised
from layer_image import layer_image
from own_cluster import Cluster
from people import eventually
from shared_volume import shared_volume
from sqlalchemy import text
from tiny_registry import TinyRegistry

from carrel.db.database import Database
from carrel.images import service as images

CARREL = str(Path(sys.executable).with_name("carrel"))
NAMESPACE = "carrel-control"
NO_DOCKER = "unix:///nowhere/docker.sock"
KEY = "dGhlIHNhbXBsZSBub25jZQ=="
# The answer to that key, in RFC 6455; then what the client sends comes back.
ECHO = (
    "while read -r line && [ ${#line} -gt 1 ]; do :; done; "
    r"printf 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    r"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n'; exec cat"
)
SIZE = ("--cpu", "100m", "--mem", "64m", "--image", "tiny")
APPS = [
    {
        "name": "web",
        "title": "Web",
        "protocol": "http",
        "port": 8080,
        "ready": "/note",
        "command": ["httpd", "-f", "-p", "8080", "-h", "/home/work/data"],
    },
    {
        "name": "echo",
        "title": "Echo",
        "protocol": "http",
        "port": 9000,
        "command": ["nc", "-ll", "-p", "9000", "-e", "sh", "-c", ECHO],
    },
]


@dataclass
class Installed:
    """An installation whose local engine does not exist, and its administrator."""

    plane: Supervised
    environment: dict[str, str]
    cluster: Cluster

    async def run(self, *words: str) -> tuple[int, str]:
        """Exit code and output of a command line."""
        code, output, errors = await self._done(*words)
        return code, output + errors

    async def ok(self, *words: str) -> str:
        """The output of a command line that must succeed."""
        code, output, errors = await self._done(*words)
        assert code == 0, (output, errors, self.plane.log.read_text(errors="replace")[-3000:])
        return output

    async def _done(self, *words: str) -> tuple[int, str, str]:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            CARREL, *words, env=self.environment, stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe
        )
        output, errors = await asyncio.wait_for(process.communicate(), 120)
        assert process.returncode is not None
        return process.returncode, output.decode(), errors.decode()

    async def as_json(self, *words: str) -> Any:
        return json.loads(await self.ok(*words, "-o", "json"))

    async def knows(self, node: str) -> None:
        """Wait until the node is there."""

        async def known() -> bool:
            return node in await self.ok("node", "ls")

        await eventually(known, every_s=0.2)

    async def app(self, session: str, app: str) -> tuple[str, dict[str, str]]:
        """Where the gateway is, and the headers of a program that uses the app."""
        keypair = (self.environment["CARREL_ACCESS_KEY"], self.environment["CARREL_SECRET_KEY"])
        path = f"{self.environment['CARREL_URL']}/api/v1/sessions/{session}/apps/{app}/token"
        async with httpx2.AsyncClient(auth=keypair, timeout=120) as client:
            made = (await client.post(path)).raise_for_status().json()
        host = made["url"].split("/")[2]
        gateway = f"http://127.0.0.1:{host.rsplit(':', 1)[1]}"
        return gateway, {"Host": host, "Authorization": f"Bearer {made['token']}"}

    async def until_layer(self, state: str, *, within_s: float = 60) -> None:
        """Wait until the app layer of the cluster is in this state."""
        seen = None

        async def there() -> bool:
            nonlocal seen
            seen = (await self.as_json("engine", "show", "west"))["app_layer"]
            return seen is not None and seen["state"] == state

        try:
            await eventually(there, every_s=1, within_s=within_s)
        except AssertionError as error:
            raise AssertionError(seen) from error

    async def has_no_address(self, session: str) -> bool:
        """True once the gateway has to go through the engine."""
        database = Database(self.plane.database_url)
        query = text("SELECT address FROM containers WHERE session_id = :id")
        async with database.transaction() as tx:
            address = (await tx.execute(query, {"id": session})).scalar_one()
        await database.close()
        return address is None

    def left(self) -> list[str]:
        """What the cluster has in the namespace."""
        return [
            f"{kind} {one['metadata']['name']}"
            for kind in ("pods", "secrets")
            for one in self.cluster.call("GET", f"/api/v1/namespaces/{NAMESPACE}/{kind}")["items"]
        ]


@pytest.fixture
async def installed(cluster: Cluster, open_dir: Path) -> AsyncIterator[Installed]:
    folder = open_dir / f"control-{secrets.token_hex(3)}"
    folder.mkdir(mode=0o711)
    plane = Supervised(folder, NO_DOCKER, f"control-{secrets.token_hex(3)}")
    try:
        access_key, secret_key = await plane.begin()
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("CARREL_")},
            "CARREL_URL": f"http://127.0.0.1:{plane.port}",
            "CARREL_ACCESS_KEY": access_key,
            "CARREL_SECRET_KEY": secret_key,
            "XDG_CONFIG_HOME": str(folder / "config"),
        }
        database = Database(plane.database_url)
        async with database.transaction() as tx:
            await images.register(
                tx,
                name="tiny",
                reference=cluster_images.tiny("work"),
                title="Tiny",
                description="",
                size_bytes=None,
                architecture=None,
                apps=APPS,
                min_slots=images.DEFAULT_MIN_SLOTS,
            )
        await database.close()
        installed = Installed(plane, environment, cluster)
        kubeconfig = str(cluster.kubeconfig)
        settings = ("--kubeconfig", kubeconfig, "--namespace", NAMESPACE)
        # The nodes enforce network policies.
        here = ("--gateway-networks", f"{cluster.address}/32", "--check-image", cluster_images.tiny("work"))
        await installed.ok("engine", "add", "kubernetes", "west", *settings, *here)
        yield installed
    finally:
        plane.stop()


async def test_a_session_lives_on_the_chosen_node_with_its_folder_and_its_apps(
    installed: Installed, cluster: Cluster
) -> None:
    shared = cluster.folder / "control"
    shared.mkdir()
    claim = shared_volume(cluster, shared, "control", NAMESPACE)
    # 1. A folder in a claim.
    await installed.ok("storage-host", "create", "posix", "shared", "--root", str(shared / "root"))
    await installed.ok("vfolder", "create", "data", "--host", "shared")
    [files] = (shared / "root").glob("*/*/files")
    (files / "note").write_text("from here")
    # 2. Where the storage is not, the session is not.
    await installed.knows("node-b")
    await installed.ok("storage-host", "location", "shared", "west", "--nowhere")
    await installed.ok("session", "create", *SIZE, "-v", "data", "--name", "waits")
    assert "cannot reach the storage host shared" in await installed.ok("session", "why", "waits")
    await installed.ok("session", "rm", "--yes", "waits")
    await installed.ok("storage-host", "location", "shared", "west", "--at", f"volume://{claim}/wrong")
    code, checked = await installed.run("storage-host", "check", "shared", "west")
    assert (code, "not in the volume" in checked) == (1, True), checked
    await installed.ok("storage-host", "location", "shared", "west", "--at", f"volume://{claim}/root")
    checked = await installed.ok("storage-host", "check", "shared", "west")
    assert [row.split()[:2] for row in checked.splitlines()[1:]] == [
        [place, "ok"] for place in ("node-a", "node-b", "server")
    ]
    # 3. A session on the chosen node.
    words = ("--node", "node-b@west", "-v", "data", "--wait")
    session = (await installed.as_json("session", "create", *SIZE, *words))["id"]
    [pod] = cluster.call("GET", f"/api/v1/namespaces/{NAMESPACE}/pods")["items"]
    assert pod["spec"]["nodeName"] == "node-b"
    script = "cat data/note; echo from there >data/answer; exit 3"
    assert await installed.run("session", "exec", session, "--", "sh", "-c", script) == (3, "from here")
    assert (files / "answer").read_text() == "from there\n"
    # 4. Its apps through the gateway: by the address of the pod, then through the API server.
    await _uses_its_apps(installed, session)
    forwarded = ("--kubeconfig", str(cluster.kubeconfig), "--apps", "api-server")
    await installed.ok("engine", "edit", "west", *forwarded, "--unset", "gateway-networks")
    assert "through the engine" in await installed.ok("engine", "check", "west")
    await eventually(lambda: installed.has_no_address(session), every_s=0.2)
    await _uses_its_apps(installed, session)
    # 5. Its end.
    await installed.ok("session", "rm", "--yes", session)
    await eventually(lambda: not installed.left(), every_s=0.2)
    assert (files / "answer").exists()


async def test_jupyterlab_of_the_app_layer_answers_in_a_pod_whose_image_is_busybox(
    installed: Installed, cluster: Cluster, tmp_path: Path
) -> None:
    async with TinyRegistry(cluster.address, credentials=("robot", "correct horse")) as registry:
        for node in cluster.nodes:
            node.trust(registry.address)
        # 1. Nodes may not pull it, and Carrel says so.
        layer = registry.put("app-layer", [await asyncio.to_thread(_jupyter_layer)], {})
        kubeconfig = ("--kubeconfig", str(cluster.kubeconfig))
        await installed.ok("engine", "edit", "west", *kubeconfig, "--app-layer", layer)
        await installed.until_layer("FAILED")
        assert "App layer: Pods cannot have the app layer" in await installed.ok("engine", "check", "west")
        # 2. With the credentials of the registry, they do.
        (tmp_path / "secret").write_text("correct horse")
        given = ("--url", f"http://{registry.address}", "--username", "robot")
        await installed.ok("registry", "add", "site", *given, "--secret-file", str(tmp_path / "secret"))
        await installed.ok("engine", "check", "west")
        await installed.until_layer("READY", within_s=240)
        assert "Copied into each pod" in await installed.ok("engine", "show", "west")
        # 3. An app that the image does not have, through the gateway.
        size = ("--cpu", "1", "--mem", "512m", "--image", "tiny")
        session = (await installed.as_json("session", "create", *size, "--wait"))["id"]
        assert "jupyter" in await installed.ok("app", "ls", session)
        gateway, headers = await installed.app(session, "jupyter")
        async with aiohttp.ClientSession() as client:
            async with client.get(f"{gateway}/api/kernelspecs", headers=headers) as answer:
                assert (answer.status, "python3" in (await answer.json())["kernelspecs"]) == (200, True)
            async with client.get(f"{gateway}/lab", headers=headers) as page:
                assert (page.status, "JupyterLab" in await page.text()) == (200, True)
        await installed.ok("session", "rm", "--yes", session)
        await eventually(lambda: not installed.left(), every_s=0.2)


def _jupyter_layer() -> bytes:
    """The archive of the app layer without VS Code and its Node, which are most of it."""
    script = (
        "PATH=/opt/carrel/busybox; cd /; set --; for one in opt/carrel/*; do "
        'case $one in */code-server | */node) ;; *) set -- "$@" "$one" ;; esac; done; tar -c -f - "$@"'
    )
    started = ["docker", "run", "--rm", "--network=none", "--entrypoint", "/opt/carrel/bin/sh", layer_image()]
    return subprocess.run([*started, "-c", script], check=True, capture_output=True).stdout


async def _uses_its_apps(installed: Installed, session: str) -> None:
    gateway, headers = await installed.app(session, "web")
    async with aiohttp.ClientSession() as client:
        async with client.get(f"{gateway}/answer", headers=headers) as answer:
            assert (answer.status, await answer.text()) == (200, "from there\n")
        async with client.get(f"{gateway}/answer", headers={"Host": headers["Host"]}) as refused:
            assert refused.status == 401
    gateway, headers = await installed.app(session, "echo")
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Key": KEY}
    await _echoes(gateway, {**upgrade, "Sec-WebSocket-Version": "13", **headers})


async def _echoes(gateway: str, headers: dict[str, str]) -> None:
    """The gateway hands on what is sent after the upgrade, both ways."""
    port = int(gateway.rsplit(":", 1)[1])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(f"GET / HTTP/1.1\r\n{lines}\r\n".encode())
    async with asyncio.timeout(60):
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 101 "), head
        frame = b"\x81\x85" + b"\0\0\0\0" + b"hello"
        writer.write(frame)
        assert await reader.readexactly(len(frame)) == frame
        long = bytes(range(256)) * 4096
        writer.write(long)
        assert await reader.readexactly(len(long)) == long
    writer.close()
