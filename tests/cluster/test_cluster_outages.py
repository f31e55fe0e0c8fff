"""API servers that are away, forget, or have another clock, and what becomes of the sessions of their clusters."""

import asyncio
import re
import uuid
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import datetime, timedelta

from api_front import ApiFront
from cluster_installation import Installation, Pods
from own_cluster import Cluster
from people import People, wait_until
from service_accounts import NAMESPACE

from carrel.core.ids import LOCAL_ENGINE
from carrel.engines.conformance_kit import refused, run
from carrel.engines.kubernetes import KubernetesEngine
from carrel.engines.port import EngineUnavailable
from carrel.tables.session_states import SessionState as S

MINUTES = 60


async def test_ten_minutes_without_an_api_server_lose_nothing_that_was_requested(
    cluster: Cluster, installation: Installation, engine: KubernetesEngine, pods: Pods
) -> None:
    ends, stays = await installation.running("node-a", "node-b")
    starts = await installation.create()
    await installation.until(starts, S.PREPARING, S.STARTING, S.RUNNING)
    await asyncio.to_thread(cluster.stop_api_server)
    try:
        await installation.remove(ends)
        later = await installation.create()
        await installation.pass_time(10 * MINUTES)
        await refused(EngineUnavailable, run(engine, installation.main_of(stays), "true"))
        assert installation.state(later) == S.PENDING
        assert installation.state(stays) == S.RUNNING
        assert installation.state(ends) in (S.TERMINATING, S.TERMINATED)
    finally:
        await asyncio.to_thread(cluster.start_api_server)
    for session in (starts, later):
        await installation.until(session, S.RUNNING)
    await installation.until(ends, S.TERMINATED)
    await installation.rests()
    assert installation.causes(stays) == ["created", "scheduled", "launch", "started"]
    assert (await run(engine, installation.main_of(stays), "echo", "back")).stdout == b"back\n"
    assert len(pods.nodes()) == 3


async def test_what_an_older_state_of_the_cluster_brings_back_or_forgets_is_put_right(
    cluster: Cluster, installation: Installation, pods: Pods
) -> None:
    ended, moved, stays = await installation.running("node-a", "node-b", "node-a")
    await asyncio.to_thread(cluster.save)
    # 1. After the copy, one ends, one moves, and one starts.
    await installation.remove(ended)
    await installation.until(ended, S.TERMINATED)
    await installation.drain("node-b")
    await installation.until(moved, S.RUNNING)
    await installation.open("node-b")
    [started] = await installation.running("node-b")
    # 2. The cluster is as it was.
    await asyncio.to_thread(cluster.restore)
    for node in cluster.nodes:
        await asyncio.to_thread(wait_until, lambda node=node: cluster.ready(node))
    await installation.until(started, S.ERROR)
    await installation.until(moved, S.ERROR)
    await installation.rests()
    assert installation.state(stays) == S.RUNNING
    assert installation.state(ended) == S.TERMINATED
    assert pods.nodes() == ["node-a"]


async def test_the_clock_of_a_cluster_is_not_that_of_its_sessions(
    cluster: Cluster, postgres: str, people: People
) -> None:
    async with ApiFront(cluster) as front, AsyncExitStack() as stack:
        engine = KubernetesEngine(front.access(), f"test-{uuid.uuid4().hex[:8]}", namespace=NAMESPACE)
        stack.push_async_callback(engine.close)
        stack.push_async_callback(engine.purge)
        installation = await Installation.start(postgres, {LOCAL_ENGINE: engine}, people.superadmin)
        stack.push_async_callback(installation.close)
        await installation.round()
        for hours in (1, -1):
            front.edit = _moved_by(timedelta(hours=hours))
            began = installation.clock.now()
            [session] = await installation.running("node-a")
            await installation.pass_time(20 * MINUTES)
            assert installation.state(session) == S.RUNNING
            await installation.remove(session)
            await installation.until(session, S.TERMINATED)
            await installation.rests()
            times = [began, *installation.times(session), installation.clock.now()]
            assert times == sorted(times)


def _moved_by(change: timedelta) -> Callable[[bytes], bytes]:
    """Moves all times in an answer."""

    def moved(match: re.Match[bytes]) -> bytes:
        moment = datetime.fromisoformat(match[1].decode()) + change
        return f'"{moment:%Y-%m-%dT%H:%M:%SZ}"'.encode()

    return lambda content: re.sub(rb'"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)"', moved, content)
