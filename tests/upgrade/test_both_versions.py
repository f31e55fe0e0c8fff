"""The former version and this one serve one database at the same time, as while copies are replaced one by one."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import httpx2
import psycopg
import pytest
from crash.control_plane import API, answering, free_port
from databases import in_database
from people import PASSWORD
from session_kit import request

from carrel.core.ids import new_id
from carrel.db.migrate import migrate

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FORMER = (HERE / "former-version").read_text().split()[0]
"""The commit of the former version: docs/howto/upgrade.md."""
_SET_UP = """
import asyncio, sys
import carrel.server.metadata
from carrel.core.clock import SystemClock
from carrel.db.database import Database
from carrel.db.migrate import migrate
from carrel.tenancy import service

async def main():
    async with Database(sys.argv[1]).transaction() as tx:
        await service.bootstrap(tx, SystemClock(), email="admin@example.org", password=sys.argv[2])

migrate(sys.argv[1])
asyncio.run(main())
"""


@pytest.fixture(scope="module")
def former(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages of the former version."""
    folder = tmp_path_factory.mktemp("former")
    archive = subprocess.run(["git", "archive", FORMER, "src"], cwd=ROOT, capture_output=True, check=False)
    assert not archive.returncode, f"{FORMER} is not in this checkout: git fetch --unshallow"
    subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
    return folder / "src"


@pytest.fixture
async def shared(postgres_server: str) -> AsyncIterator[str]:
    """The URL of a database without a table."""
    name = f"both_{new_id()}"
    async with await psycopg.AsyncConnection.connect(postgres_server, autocommit=True) as connection:
        await connection.execute(f"CREATE DATABASE {name} TEMPLATE template0")
        yield in_database(postgres_server, name)
        await connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _environment(source: Path, database_url: str, data_dir: Path, port: int = 0) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CARREL_")}
    own = {"CARREL_DATA_DIR": str(data_dir), "CARREL_DATABASE_URL": database_url, "PYTHONPATH": str(source)}
    return {**kept, **own, "CARREL_PORT": str(port or 1), "CARREL_ENGINE_URL": f"unix://{data_dir}/no-engine"}


@asynccontextmanager
async def _api(source: Path, database_url: str, data_dir: Path) -> AsyncIterator[str]:
    """A copy of the API of one version; its address."""
    port = free_port()
    with (data_dir / f"{port}.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "carrel.server.role", "api"],
            env=_environment(source, database_url, data_dir, port),
            stdout=log,
            stderr=log,
            cwd=data_dir,
        )
    try:
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}{API}") as client:
            await answering(client)
        yield f"http://127.0.0.1:{port}{API}"
    finally:
        process.kill()
        process.wait()


async def _work(writer: httpx2.AsyncClient, reader: httpx2.AsyncClient, name: str) -> None:
    """What people do all day, in one version; the other one shows it, changes it and removes it."""

    async def must(client: httpx2.AsyncClient, method: str, path: str, **options: object) -> httpx2.Response:
        answer = await client.request(method, path, **options)  # type: ignore[arg-type]
        assert answer.status_code < 300, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer

    session = (await must(writer, "POST", "/sessions", json=request(name=name))).json()
    assert (await must(reader, "GET", f"/sessions/{session['id']}")).json()["name"] == name
    await must(reader, "GET", "/sessions", params={"q": name})
    await must(reader, "GET", f"/sessions/{session['id']}/history")
    batch = {"kind": "batch", "command": ["true"], "array": {"first": 1, "last": 2}}
    array = (await must(writer, "POST", "/sessions", json=request(name=f"{name}-many", **batch))).json()
    await must(reader, "GET", f"/sessions/{array['id']}")
    await must(reader, "DELETE", f"/sessions/{array['id']}")
    token = (await must(writer, "POST", "/tokens", json={"name": name, "scopes": ["session.read"]})).json()
    bearer = {"Authorization": f"Bearer {token['token']}"}
    await must(reader, "GET", "/sessions", headers=bearer, auth=None)
    await must(reader, "DELETE", f"/tokens/{token['id']}")
    template = {"name": name, "session": request()}
    made = (await must(writer, "POST", "/templates", json=template)).json()
    await must(reader, "PATCH", f"/templates/{made['id']}", json={"description": "changed"})
    await must(reader, "POST", f"/sessions/{session['id']}/shares", json={"link": True, "expires_in_s": 3600})
    await must(reader, "DELETE", f"/sessions/{session['id']}")
    for path in ("/events", "/audit", "/users", "/nodes", "/site", "/notifications", "/images"):
        await must(reader, "GET", path)


async def test_both_versions_serve_one_database(former: Path, shared: str, tmp_path: Path) -> None:
    old = _environment(former, shared, tmp_path)
    subprocess.run([sys.executable, "-c", _SET_UP, shared, PASSWORD], env=old, cwd=tmp_path, check=True)
    async with AsyncExitStack() as stack:
        before = await stack.enter_async_context(_api(former, shared, tmp_path))
        auth = await _keypair(before)
        first = await stack.enter_async_context(httpx2.AsyncClient(base_url=before, auth=auth, timeout=60))
        # 1. The former version works while the schema changes below it.
        working = True

        async def work_on() -> None:
            number = 0
            while working:
                await _work(first, first, f"before-{(number := number + 1)}")

        while_migrating = asyncio.create_task(work_on())
        await asyncio.to_thread(migrate, shared)
        # 2. Both work, each with what the other one wrote.
        now = await stack.enter_async_context(_api(ROOT / "src", shared, tmp_path))
        working = False
        await while_migrating
        second = await stack.enter_async_context(httpx2.AsyncClient(base_url=now, auth=auth, timeout=60))
        for turn in range(3):
            await asyncio.gather(_work(first, second, f"there-{turn}"), _work(second, first, f"back-{turn}"))


async def _keypair(url: str) -> tuple[str, str]:
    async with httpx2.AsyncClient(base_url=url) as client:
        person = {"email": "admin@example.org", "password": PASSWORD}
        me = (await client.post("/auth/login", json=person)).json()
        made = await client.post("/keypairs", json={}, headers={"X-Carrel-CSRF": me["csrf_token"]})
        return made.json()["access_key"], made.json()["secret_key"]
