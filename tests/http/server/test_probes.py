"""Whether each role is alive, and ready for requests."""

import httpx2
from aiohttp import ClientSession
from databases import no_connections
from gateway_kit import Gate, gate
from installation import Api, serving
from people import eventually

from carrel.core.clock import SystemClock
from carrel.db.database import Database
from carrel.gateway.scrape import Scrape
from carrel.gateway.scrape import serving as serving_metrics
from carrel.server.starting import Starting

__all__ = ["gate"]


async def test_the_api_is_alive_at_once_and_ready_with_its_database(api: Api):
    starting = Starting()
    async with serving(starting) as url, httpx2.AsyncClient(base_url=url) as client:  # type: ignore[arg-type]

        async def probes() -> tuple[int, int]:
            answers = [await client.get(path) for path in ("/healthz", "/readyz")]
            return answers[0].status_code, answers[1].status_code

        assert await probes() == (200, 503)
        starting.start(api.app)
        assert await probes() == (200, 200)
        async with no_connections(api.database):
            assert await probes() == (200, 503)

        async def recovered() -> bool:
            return await probes() == (200, 200)

        await eventually(recovered)


async def test_the_gateway_is_ready_with_its_database(gate: Gate):
    async def probes() -> tuple[int, int]:
        async with ClientSession(f"http://127.0.0.1:{gate.port}") as client:
            alive, ready = [await client.get(f"/.carrel/{path}") for path in ("healthz", "readyz")]
            return alive.status, ready.status

    assert await probes() == (200, 200)
    async with no_connections(gate.database):
        assert await probes() == (200, 503)


async def test_controllers_are_probed_beside_their_metrics(database: Database):
    scrape = Scrape(database, SystemClock(), b"k" * 32)
    async with (
        serving_metrics(scrape, "127.0.0.1", 0) as port,
        ClientSession(f"http://127.0.0.1:{port}") as client,
    ):

        async def probes() -> list[int]:
            return [(await client.get(path)).status for path in ("/healthz", "/readyz", "/metrics", "/else")]

        assert await probes() == [200, 200, 401, 404]
        async with no_connections(database):
            assert await probes() == [200, 503, 401, 404]
