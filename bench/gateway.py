"""The apps' gateway against a minimal aiohttp proxy, and against no proxy at all."""

import time

from websockets.asyncio.client import connect

from bench.app_session import OpenedApp, app
from bench.control_plane import ControlPlane, control_plane
from bench.helper_process import helper
from bench.load import load, median, request
from bench.table import Line

_ROUNDS = 7
_CONNECTIONS = 8
_BIG_ROUNDS = 3
_MESSAGES = 400


async def measure() -> list[Line]:
    async with control_plane(controllers=False) as own, app(own) as upstream:
        async with helper("bench.bare_proxy", str(upstream.port)) as bare:
            ports = {"gateway": own.settings.effective_gateway_port, "bare": bare, "direct": upstream.port}
            lines = [await _small(ports, upstream), await _big(ports, upstream)]
        return [*lines, await _websocket(own, upstream)]


def _asking(path: str, upstream: OpenedApp) -> bytes:
    return request(f"http://{upstream.host}{path}", Cookie=upstream.cookie)


async def _small(ports: dict[str, int], upstream: OpenedApp) -> Line:
    rates: dict[str, list[float]] = {name: [] for name in ports}
    for turn in range(_ROUNDS + 1):
        for name, port in ports.items():
            result = await load(_asking("/small", upstream), port, seconds=1, connections=_CONNECTIONS)
            if turn:
                rates[name].append(result.rate)
    ours, bare, direct = (median(rates[name]) for name in ("gateway", "bare", "direct"))
    return Line(
        "gateway: small answers",
        f"{ours:.0f}/s",
        f"1 KiB, {_CONNECTIONS} connections; direct {direct:.0f}/s",
        ratio=ours / bare,
        floor=f"bare proxy {bare:.0f}/s",
        goal=0.9,
        best="high",
    )


async def _big(ports: dict[str, int], upstream: OpenedApp) -> Line:
    rates: dict[str, list[float]] = {name: [] for name in ports}
    for _ in range(_BIG_ROUNDS):
        for name, port in ports.items():
            # Zero duration: a single response, in seconds.
            result = await load(_asking("/big", upstream), port, seconds=0, connections=1)
            rates[name].append(1024 / result.latencies[0])
    ours, bare, direct = (median(rates[name]) for name in ("gateway", "bare", "direct"))
    return Line(
        "gateway: body of 1 GiB",
        f"{ours:.0f} MiB/s",
        f"{_BIG_ROUNDS} by turns; bare proxy {bare:.0f} MiB/s",
        ratio=ours / direct,
        floor=f"direct {direct:.0f} MiB/s",
        goal=0.5,
        best="high",
    )


async def _websocket(own: ControlPlane, upstream: OpenedApp) -> Line:
    took: dict[str, list[float]] = {"gateway": [], "direct": []}
    origin = f"http://{upstream.host}"
    async with (
        connect(f"ws://127.0.0.1:{upstream.port}/echo", compression=None) as direct,
        connect(
            f"ws://{upstream.host}/echo",
            host="127.0.0.1",
            port=own.settings.effective_gateway_port,
            additional_headers={"Cookie": upstream.cookie, "Origin": origin},
            compression=None,
        ) as through,
    ):
        for turn in range(_MESSAGES + 50):
            for name, socket in (("gateway", through), ("direct", direct)):
                began = time.perf_counter()
                await socket.send(b"x" * 64)
                await socket.recv()
                if turn >= 50:
                    took[name].append(time.perf_counter() - began)
    ours, floor = median(took["gateway"]) * 1e6, median(took["direct"]) * 1e6
    return Line(
        "gateway: WebSocket round trip",
        f"{ours:.0f} us",
        f"{_MESSAGES} by turns, 64 bytes",
        ratio=ours / floor,
        floor=f"direct {floor:.0f} us",
        goal=2.5,
    )
