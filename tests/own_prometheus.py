"""A real Prometheus, Debian's, as a child process that scrapes what a document's configuration names."""

import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import yaml
from people import eventually
from ports import free_port

_WITHIN_S = 120


@dataclass(frozen=True)
class Prometheus:
    """Its HTTP API."""

    http: httpx2.AsyncClient

    async def read(self, path: str, **parameters: str) -> Any:
        answer = await self.http.get(f"/api/v1/{path}", params=parameters)
        body = answer.json()
        assert body["status"] == "success", (parameters, body)
        return body["data"]

    async def query(self, expr: str) -> list[dict[str, Any]]:
        """The series that it makes of the expression now. Fails when it does not understand it."""
        data = await self.read("query", query=expr)
        return data["result"] if data["resultType"] == "vector" else [data["result"]]

    async def until_queried(self, expr: str) -> list[dict[str, Any]]:
        """The same once there is one at least."""

        async def series() -> list[dict[str, Any]]:
            return await self.query(expr)

        try:
            return await eventually(series, within_s=_WITHIN_S, every_s=0.2)
        except AssertionError:
            raise AssertionError(f"no series of {expr}") from None


@asynccontextmanager
async def prometheus(
    folder: Path, *, configuration: dict[str, Any], rules: Path, targets: dict[str, str], token: str
) -> AsyncIterator[Prometheus]:
    """One that scrapes every second. targets: what stands for the configuration's addresses, by job."""
    program = shutil.which("prometheus")
    assert program, "prometheus is missing: apt-get install --no-install-recommends prometheus"
    folder.mkdir()
    (folder / "token").write_text(token)
    for job in configuration["scrape_configs"]:
        job["authorization"]["credentials_file"] = str(folder / "token")
        job["static_configs"] = [{"targets": [targets[job["job_name"]]]}]
    configuration["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    configuration["rule_files"] = [str(rules)]
    (folder / "prometheus.yml").write_text(yaml.safe_dump(configuration))
    address = f"127.0.0.1:{free_port()}"
    command = [
        program,
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'series'}",
        f"--web.listen-address={address}",
        "--log.level=warn",
    ]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        async with httpx2.AsyncClient(base_url=f"http://{address}", trust_env=False, timeout=30) as http:

            async def ready() -> bool:
                assert process.poll() is None, (folder / "log").read_text()
                try:
                    return (await http.get("/-/ready")).status_code == 200
                except httpx2.TransportError:
                    return False

            await eventually(ready, within_s=_WITHIN_S)
            yield Prometheus(http)
    finally:
        process.kill()
        process.wait()
