"""A real control plane process over a real engine, to kill and start again."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
from people import eventually
from ports import free_port

API = "/api/v1"


class ControlPlaneProcess:
    """`python -m carrel.server.role api,controllers` on a port of its own."""

    def __init__(
        self,
        folder: Path,
        database_url: str,
        engine_url: str,
        installation: str,
        *,
        name: str = "control-plane",
    ) -> None:
        self.name = name
        self.port = free_port()
        self.log = folder / f"{name}.log"
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("CARREL_")},
            "CARREL_DATA_DIR": str(folder),
            "CARREL_DATABASE_URL": database_url,
            "CARREL_ENGINE_URL": engine_url,
            "CARREL_INSTALLATION": installation,
            "CARREL_APP_LAYER": "false",
            "CARREL_PORT": str(self.port),
        }
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "carrel.server.role", "api,controllers"],
                env=self._environment,
                stdout=log,
                stderr=log,
            )

    def kill(self) -> None:
        """As a power cut: no handler runs, nothing is flushed."""
        if self._process:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None


class Client:
    """A person's script: it repeats what got no answer, as every client of ours does.

    refusals: the codes of the answers "not now" that it got, one for each.
    """

    def __init__(self, port: int, keypair: tuple[str, str], **options: Any) -> None:
        self._http = httpx2.AsyncClient(
            base_url=f"http://127.0.0.1:{port}{API}", auth=keypair, **{"timeout": 20, **options}
        )
        self.refusals: list[str] = []

    async def get(self, path: str) -> Any:
        return (await self._ask("GET", path)).json()

    async def text(self, path: str) -> str:
        """A body that may take long."""
        return (await self._ask("GET", path, timeout=120)).text

    async def post(self, path: str, body: object) -> Any:
        return (await self._ask("POST", path, json=body)).json()

    async def create(self, key: str, image: str, **more: object) -> str:
        body = {"image": image, "slots": {"cpu": 10, "mem": 16 << 20}, **more}
        answer = await self._ask("POST", "/sessions", json=body, headers={"Idempotency-Key": key})
        return str(answer.json()["id"])

    async def remove(self, session: str) -> None:
        await self._ask("DELETE", f"/sessions/{session}")

    async def look_around(self) -> None:
        """Read what a page shows, again and again, until cancelled."""
        while True:
            for path in ("/health", "/server", "/sessions?state=all", "/events"):
                await self.try_once("GET", path)
            await asyncio.sleep(0.05)

    async def close(self) -> None:
        await self._http.aclose()

    async def try_once(self, method: str, path: str, **options) -> httpx2.Response | None:  # type: ignore[no-untyped-def]
        """The answer; None when there was none, or only that it is to be tried again later."""
        try:
            answer = await self._http.request(method, path, **options)
        except httpx2.TransportError:
            return None
        if answer.status_code == 503:
            problem = answer.json()
            assert answer.headers["content-type"] == "application/problem+json"
            assert problem["hint"], problem
            assert int(answer.headers["Retry-After"]) > 0
            self.refusals.append(problem["code"])
            return None
        assert answer.status_code in (200, 201, 202), f"{method} {path}: {answer.text}"
        return answer

    async def _ask(self, method: str, path: str, **options) -> httpx2.Response:  # type: ignore[no-untyped-def]
        async def answered() -> httpx2.Response | None:
            return await self.try_once(method, path, **options)

        return await eventually(answered, within_s=60, every_s=0.1)


async def answering(client: httpx2.AsyncClient) -> None:
    """Until the server of this client, whose base is its API, answers."""

    async def healthy() -> bool:
        try:
            return (await client.get("/health")).status_code == 200
        except httpx2.TransportError:
            return False

    await eventually(healthy, within_s=60, every_s=0.1)
