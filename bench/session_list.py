"""GET /sessions of 20 rows, per worker, against a minimal FastAPI endpoint that returns the same bytes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from tempfile import NamedTemporaryFile

from bench.control_plane import ControlPlane, control_plane
from bench.helper_process import helper
from bench.load import load, median, request
from bench.stored_sessions import make_arrays, store
from bench.table import Line

_ROUNDS = 7
_SECONDS = 1.0
_CONNECTIONS = 8
_HISTORY = 1_000_000
_IN_ARRAY = 1000
_PATH = "/api/v1/sessions?limit=20"
_COUNTS = "/api/v1/session-counts?state=ended"


async def measure() -> list[Line]:
    async with control_plane(controllers=False) as own:
        await store(own, 1, 20, state="TERMINATED")
        payload = request(own.url + _PATH, Authorization=own.basic)
        async with own.client() as client:
            body = (await client.get("/sessions?limit=20")).content
        async with _bare(body) as bare_port:
            rates = await _by_turns(own, payload, bare_port)
            small = rates
            await store(own, 21, _HISTORY, state="TERMINATED")
            large = await _by_turns(own, payload, bare_port)
            counts = await _counts(own)
            await make_arrays(own, _IN_ARRAY)
            arrays = await _by_turns(own, payload, bare_port)
    ours, bare = median(small["ours"]), median(small["bare"])
    full, of_arrays = median(large["ours"]), median(arrays["ours"])
    # The machine's speed may have changed between the runs: the minimal endpoint shows it.
    pace, pace_of_arrays = median(large["bare"]) / bare, median(arrays["bare"]) / bare
    conditions = f"20 rows, {len(body)} bytes, {_CONNECTIONS} connections, one worker"
    return [
        Line(
            "GET /sessions, 20 rows",
            f"{ours:.0f}/s",
            conditions,
            ratio=ours / bare,
            floor=f"{bare:.0f}/s",
            goal=0.4,
            best="high",
        ),
        Line(
            "GET /sessions, 1,000,000 in history",
            f"{full:.0f}/s",
            f"{conditions}; time for each, floor: 20 in all",
            ratio=ours * pace / full,
            floor=f"{ours:.0f}/s",
            goal=1.5,
        ),
        Line(
            f"GET /sessions, the same in arrays of {_IN_ARRAY:,}",
            f"{of_arrays:.0f}/s",
            f"each row an array; {conditions}; time for each, floor: 20 sessions",
            ratio=ours * pace_of_arrays / of_arrays,
            floor=f"{ours:.0f}/s",
            goal=1.5,
        ),
        Line(
            "GET /session-counts, 1,000,000 in history",
            f"{1000 / counts:.0f} ms",
            "ended sessions by kind, the newest 10,000 rows; one connection",
        ),
    ]


async def _counts(own: ControlPlane) -> float:
    """Requests per second."""
    payload = request(own.url + _COUNTS, Authorization=own.basic)
    return median([(await load(payload, own.port, seconds=_SECONDS, connections=1)).rate for _ in range(3)])


async def _by_turns(own: ControlPlane, payload: bytes, bare_port: int) -> dict[str, list[float]]:
    rates: dict[str, list[float]] = {"ours": [], "bare": []}
    plain = request(f"http://127.0.0.1:{bare_port}/sessions?limit=20", Authorization=own.basic)
    for _ in range(_ROUNDS):
        for name, what, port in (("ours", payload, own.port), ("bare", plain, bare_port)):
            rates[name].append((await load(what, port, seconds=_SECONDS, connections=_CONNECTIONS)).rate)
    return rates


@asynccontextmanager
async def _bare(body: bytes) -> AsyncIterator[int]:
    with NamedTemporaryFile() as file:
        file.write(body)
        file.flush()
        async with helper("bench.bare_api", file.name, "plain") as port:
            yield port
