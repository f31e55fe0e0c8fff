"""Measuring the network of a session, with the real processes on loopback."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from access_kit import World, world
from people import eventually

from carrel.core.ids import ContainerId, SessionId, new_id
from carrel.engines.fake import FakeContainer
from carrel.engines.port import ContainerSpec, ExecStream, TerminalSize
from carrel.sessions import containers as rows_of
from carrel.tables.session_states import ContainerRole, ContainerState, SessionState
from carrel.tables.sessions import Container

__all__ = ["world"]
# All host names are this machine, as those of a cluster are its containers.
_NAMES = """
import socket
found = socket.getaddrinfo
socket.getaddrinfo = lambda host, *rest, **named: found("127.0.0.1" if host else host, *rest, **named)
"""


@pytest.fixture(autouse=True)
def names(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The processes of the engine resolve host names of a cluster."""
    site = world.engine.home / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(_NAMES)
    process = world.engine.process

    @asynccontextmanager
    async def resolving(
        container: FakeContainer,
        command: Sequence[str],
        env: Mapping[str, str],
        terminal: TerminalSize | None,
    ) -> AsyncIterator[ExecStream]:
        env = {**env, "PYTHONPATH": str(site)}
        async with process(container, command, env, terminal) as stream:
            yield stream

    monkeypatch.setattr(world.engine, "process", resolving)


async def cluster(world: World, *, containers: int = 3, running: int | None = None) -> SessionId:
    """A running cluster session. running: of its containers; None: all."""
    session = await world.session()
    async with world.database.transaction() as tx:
        main = (await tx.get_one(Container, await main_of(world, session))).node_id
        for index in range(1, containers):
            is_up = running is None or index < running
            one = Container(
                id=ContainerId(new_id()),
                session_id=session,
                role=ContainerRole.SUB,
                index=index,
                host=f"sub{index}",
                image="debian:12",
                slots={"cpu": 1000, "mem": 1 << 28},
                state=ContainerState.RUNNING if is_up else ContainerState.EXITED,
                node_id=main,
            )
            tx.add(one)
            await world.engine.ensure(ContainerSpec(one.id, one.image, one.slots), lambda _: None)
    return session


async def main_of(world: World, session: SessionId) -> ContainerId:
    async with world.database.transaction() as tx:
        return (await rows_of.of(tx, session))[0].id


async def checked(
    world: World, session: SessionId, query: str = "", **options: Any
) -> tuple[int, dict[str, Any]]:
    async with (
        world.http(**options) as http,
        http.post(f"/api/v1/sessions/{session}/network-check{query}") as response,
    ):
        return response.status, await response.json()


async def last(world: World, session: SessionId, **options: Any) -> dict[str, Any]:
    async with (
        world.http(**options) as http,
        http.get(f"/api/v1/sessions/{session}/network-check") as response,
    ):
        return dict(await response.json())


async def test_the_way_between_containers_is_measured_and_kept(world: World) -> None:
    session = await cluster(world)
    assert await last(world, session) == {"running": False, "last": None}
    status, result = await checked(world, session)
    assert status == 200, result
    assert (result["code"], result["participants"]) == ("network.measured", 3)
    assert result["method"] in ("tcp", "gloo")
    assert [
        (path["sender"], path["receiver"], path["transport"], path["interface"]) for path in result["paths"]
    ] == [
        ("main1", "sub1", "tcp", "lo"),
        ("sub1", "sub2", "tcp", "lo"),
        ("sub2", "main1", "tcp", "lo"),
    ]
    sizes = [one["size_bytes"] for one in result["messages"]]
    assert sizes[:3] == [8, 1 << 16, 1 << 20]
    assert result["latency_s"] == result["messages"][0]["seconds"] > 0
    one = result["messages"][2]
    assert one["bytes_per_s"] == pytest.approx((1 << 20) / one["seconds"])
    assert one["bus_bytes_per_s"] == pytest.approx(one["bytes_per_s"] * 4 / 3)
    assert await last(world, session) == {"running": False, "last": result}
    await eventually(lambda: all(one.returncode is not None for one in world.engine.processes))


async def test_containers_that_have_ended_take_no_part(world: World) -> None:
    session = await cluster(world, containers=3, running=2)
    status, result = await checked(world, session)
    assert (status, result["participants"]) == (200, 2)


async def test_one_container_has_no_network(world: World) -> None:
    status, problem = await checked(world, await world.session())
    assert (status, problem["code"]) == (409, "network.single")
    assert "--cluster-size" in problem["hint"]


async def test_the_accelerators_of_one_container_need_nccl(world: World) -> None:
    session = await world.session()
    async with world.database.transaction() as tx:
        main = await tx.get_one(Container, await main_of(world, session))
        main.slots = {"cpu": 1000, "mem": 1 << 28, "cuda.device": 2}
    status, problem = await checked(world, session)
    assert (status, problem["code"]) == (409, "network.no_nccl")


async def test_a_session_that_does_not_run_is_refused(world: World) -> None:
    status, problem = await checked(world, await world.session(state=SessionState.PENDING))
    assert (status, problem["code"]) == (409, "session.not_running")


async def test_only_those_who_may_use_the_session_check_it(world: World) -> None:
    session = await cluster(world, containers=2)
    status, problem = await checked(world, session, actor=world.people.stranger)
    assert (status, problem["code"]) == (404, "session.not_found")
    status, problem = await checked(world, session, actor=world.people.superadmin)
    assert status == 403, problem
    assert (await last(world, session, actor=world.people.superadmin))["last"] is None


async def test_an_image_without_python_is_refused_and_the_refusal_kept(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await cluster(world, containers=2)
    bare = world.engine.home / "bin"
    bare.mkdir()
    (bare / "sh").symlink_to("/bin/sh")
    monkeypatch.setenv("PATH", str(bare))
    status, problem = await checked(world, session)
    assert (status, problem["code"]) == (409, "network.no_python")
    kept = (await last(world, session))["last"]
    assert (kept["code"], kept["hint"], kept["method"]) == ("network.no_python", problem["hint"], None)


async def test_the_interpreter_can_be_chosen(world: World) -> None:
    session = await cluster(world, containers=2)
    status, problem = await checked(world, session, "?python=/no/python")
    assert (status, problem["code"]) == (409, "network.no_python")
    assert problem["detail"].startswith("/no/python in ")
    assert (await checked(world, session, f"?python={sys.executable}"))[0] == 200


async def test_a_second_check_waits_for_the_end_of_the_first(world: World) -> None:
    session = await cluster(world, containers=2)
    first = asyncio.create_task(checked(world, session))
    await eventually_running(world, session)
    status, problem = await checked(world, session)
    assert (status, problem["code"]) == (409, "network.busy")
    assert (await first)[0] == 200
    assert (await checked(world, session))[0] == 200


async def test_a_client_that_leaves_ends_the_processes(world: World) -> None:
    session = await cluster(world, containers=2)
    leaving = asyncio.create_task(checked(world, session))
    await eventually_running(world, session)
    await eventually(lambda: len(world.engine.processes) == 2)
    leaving.cancel()
    await asyncio.wait({leaving})
    await eventually(lambda: all(one.returncode is not None for one in world.engine.processes))

    async def is_free() -> bool:
        return not (await last(world, session))["running"]

    await eventually(is_free)
    assert (await last(world, session))["last"] is None


async def eventually_running(world: World, session: SessionId) -> None:
    async def is_running() -> bool:
        return bool((await last(world, session))["running"])

    await eventually(is_running)


async def test_a_process_that_prints_anything_else_is_a_failure(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await cluster(world, containers=2)
    (world.engine.home / "site" / "sitecustomize.py").write_text(
        "print('{\"here\": 1}', '{\"devices\": -1}', sep='\\n')"
    )
    status, problem = await checked(world, session)
    assert (status, problem["code"]) == (409, "network.failed")
    assert json.dumps(problem).count("main1") or json.dumps(problem).count("sub1")
