"""The API's p99 while ten clients download through the gateway, against its p99 at rest."""

from bench.app_session import app
from bench.control_plane import control_plane
from bench.helper_process import helper
from bench.load import load, median, request
from bench.table import Line

_ROUNDS = 4
_SECONDS = 4.0
_PAUSE_S = 0.02


async def measure() -> list[Line]:
    rest: list[float] = []
    busy: list[float] = []
    async with control_plane(controllers=False) as own, app(own) as upstream:
        payload = request(own.url + "/api/v1/sessions?limit=20", Authorization=own.basic)

        async def p99() -> float:
            result = await load(payload, own.port, seconds=_SECONDS, connections=2, pause_s=_PAUSE_S)
            return result.percentile(99)

        await p99()
        gateway_port = str(own.settings.effective_gateway_port)
        for _ in range(_ROUNDS):
            rest.append(await p99())
            async with helper("bench.bulk", gateway_port, upstream.host, upstream.cookie, "/big"):
                busy.append(await p99())
    return [
        Line(
            "API p99 beside ten downloads",
            f"{median(busy):.1f} ms",
            f"{_ROUNDS} by turns of {_SECONDS:.0f} s",
            ratio=median(busy) / median(rest),
            floor=f"{median(rest):.1f} ms",
            goal=3,
        )
    ]
