"""The SDK's objects, synchronous and asynchronous, and the examples of the documents, against a real server."""

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from carrel_client import (
    AsyncCarrel,
    Carrel,
    CarrelError,
    InvalidRequestError,
    NotFoundError,
    SessionFailedError,
    WaitTimeoutError,
)
from installation import Api, installation
from local_engine import LocalEngine
from people import People

from carrel.db.database import Database

ROOT = Path(__file__).parents[3]
SCRIPTS = (ROOT / "docs/howto/scripts.md").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```", SCRIPTS, re.DOTALL)
TITLES = ["create", "wait", "lists", "files", "asyncio", "errors"]


@dataclass
class Sdk:
    api: Api
    url: str
    keys: tuple[str, str]
    client: Carrel

    @property
    def environment(self) -> dict[str, str]:
        return {"CARREL_URL": self.url, "CARREL_ACCESS_KEY": self.keys[0], "CARREL_SECRET_KEY": self.keys[1]}


@pytest.fixture
async def sdk(database: Database, people: People, tmp_path: Path) -> AsyncIterator[Sdk]:
    """An installation whose sessions run, with real processes behind `exec`."""
    (tmp_path / "home").mkdir()
    engine = LocalEngine(tmp_path / "home")
    engine.log.write_text("one\ntwo\nthree\n")
    async with installation(database, people, tmp_path, controllers=True, engine=engine) as api:
        engine.world.local_images.add("starter")
        keys = await api.keypair(people.user)
        with Carrel(api.url, *keys) as client:
            yield Sdk(api, api.url, keys, client)


async def test_an_array_is_created_by_its_range_and_listed(sdk: Sdk):
    def use() -> None:
        sessions = sdk.client.sessions
        first = sessions.create(name="sweep", command=["true"], array="1-3%2")
        assert first.array
        assert (first.array["name"], first.array["last"], first.array["max_parallel"]) == ("sweep", 3, 2)
        names = sorted(one.name for one in sessions.list(array=first.array["id"]))
        assert names == ["sweep-1", "sweep-2", "sweep-3"]
        with pytest.raises(CarrelError) as refused:
            sessions.create(command=["true"], array="1..3")
        assert refused.value.code == "client.bad_array"

    await asyncio.to_thread(use)


async def test_a_session_is_created_used_and_terminated(sdk: Sdk):
    def use() -> None:
        session = sdk.client.sessions.create(
            "debian:12", cpu="500m", mem="256m", time_limit="2h", name="mine-1"
        )
        assert (session.cpu, session.mem_bytes, session.name) == (0.5, 256 << 20, "mine-1")
        assert session.wait(timeout_s=60) is session
        assert session.running
        assert session.started_at is not None
        assert session.started_at >= session.created_at

        result = session.exec(["sh", "-c", "cat; echo err >&2; exit 3"], stdin="hello")
        assert (result.exit_code, result.text, result.stderr) == (3, "hello", b"err\n")
        with pytest.raises(CarrelError, match="code 3: err"):
            result.check()
        assert list(session.logs(tail=2)) == ["two", "three"]
        assert [step["to_state"] for step in session.history()][-1] == "RUNNING"
        assert session.why()["waiting"] is False

        assert session.rename("renamed-1").name == "renamed-1"
        assert sdk.client.sessions.get("renamed-1").id == session.id
        session.terminate().wait("ended", timeout_s=60)
        assert session.ended
        assert session.ended_at is not None
        with pytest.raises(SessionFailedError):
            session.wait(timeout_s=60)

    await asyncio.to_thread(use)


async def test_lists_fetch_page_after_page(sdk: Sdk, monkeypatch: pytest.MonkeyPatch):
    def use() -> None:
        made = [sdk.client.sessions.create("debian:12", cpu=0.1, mem="64m").id for _ in range(3)]
        operation, pages = sdk.client.api.sessions.list, []

        def small(**query: object) -> object:
            pages.append(query)
            return operation(**{**query, "limit": 2})  # type: ignore[arg-type]

        monkeypatch.setattr(sdk.client.api.sessions, "list", small)
        sessions = sdk.client.sessions.list()
        assert pages == [], "nothing is asked before the first item is"
        assert next(sessions).id == made[-1]
        assert len(pages) == 1
        assert [session.id for session in sessions] == made[-2::-1]
        assert len(pages) == 2

    await asyncio.to_thread(use)


async def test_errors_have_a_class_for_what_can_be_done(sdk: Sdk):
    def use() -> None:
        with pytest.raises(NotFoundError) as missing:
            sdk.client.sessions.get("no-such")
        assert missing.value.code == "session.not_found"
        with pytest.raises(InvalidRequestError, match="'4x' is not a size"):
            sdk.client.sessions.create("debian:12", mem="4x")
        pending = sdk.client.sessions.create("debian:12", cpu=0.1, mem="64m").wait(timeout_s=60)
        with pytest.raises(WaitTimeoutError):
            pending.wait("ended", timeout_s=0.2)

    await asyncio.to_thread(use)


async def test_a_repeated_key_returns_the_first_session(sdk: Sdk):
    def use() -> None:
        one, two = (
            sdk.client.sessions.create("debian:12", cpu=0.1, mem="64m", idempotency_key="nightly")
            for _ in range(2)
        )
        assert one.id == two.id

    await asyncio.to_thread(use)


async def test_the_asynchronous_twin_does_the_same_side_by_side(sdk: Sdk):
    async with AsyncCarrel(sdk.url, *sdk.keys) as client:
        sessions = await asyncio.gather(
            *(client.sessions.create("debian:12", cpu=0.1, mem="64m") for _ in range(3))
        )
        await asyncio.gather(*(session.wait(timeout_s=60) for session in sessions))
        assert all(session.running for session in sessions)
        results = await asyncio.gather(*(session.exec(["echo", session.id]) for session in sessions))
        assert [result.text.strip() for result in results] == [session.id for session in sessions]
        assert {each.id async for each in client.sessions.list(state="running")} == {
            each.id for each in sessions
        }
        assert [line async for line in sessions[0].logs()] == ["one", "two", "three"]
        with pytest.raises(WaitTimeoutError):
            await sessions[0].wait("ended", timeout_s=0.2)
        with pytest.raises(NotFoundError):
            await client.folders.get("no-such")


async def test_a_cancelled_iterator_does_not_block_the_event_loop(sdk: Sdk):
    async with AsyncCarrel(sdk.url, *sdk.keys) as client:

        async def first() -> str:
            async for event in client.events():
                return event["kind"]
            raise AssertionError("the stream ended")

        assert await asyncio.wait_for(first(), 30) == "hello"


@pytest.mark.parametrize("example", EXAMPLES, ids=TITLES)
async def test_the_examples_of_the_documents_run(sdk: Sdk, tmp_path: Path, example: str):
    folder = tmp_path / "example"
    folder.mkdir()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        example,
        cwd=folder,
        env={**os.environ, **sdk.environment},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await asyncio.wait_for(process.communicate(), 120)
    assert process.returncode == 0, output.decode()
    assert "Traceback" not in output.decode()
    assert "something else" not in output.decode()
