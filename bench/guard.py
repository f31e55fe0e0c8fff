"""Cost of the limits on requests and connections: CPU time of a minimal FastAPI endpoint with and without them."""

import httpx2

from bench.helper_process import helper
from bench.load import load, request
from bench.table import Line

_ROUNDS = 9
_SECONDS = 1.0
_CONNECTIONS = 8
# As many as a browser sends.
_HEADERS = {
    "User_Agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36",
    "Accept": "application/json",
    "Accept_Encoding": "gzip, deflate, br, zstd",
    "Accept_Language": "en",
    "Cookie": "carrel_session=" + "x" * 43,
    "Referer": "http://127.0.0.1/sessions",
    "Sec_Fetch_Dest": "empty",
    "Sec_Fetch_Mode": "cors",
    "Sec_Fetch_Site": "same-origin",
    "Connection": "keep-alive",
}


async def measure() -> list[Line]:
    async with (
        helper("bench.bare_api", __file__, "plain") as plain,
        helper("bench.bare_api", __file__, "guarded") as guarded,
    ):
        ports = {"plain": plain, "guarded": guarded}
        took: dict[str, list[float]] = {name: [] for name in ports}
        for turn in range(_ROUNDS + 1):
            for name, port in ports.items():
                each = await _cpu_of_a_request(port)
                if turn:
                    took[name].append(each)
    ours, bare = (min(took[name]) * 1e6 for name in ("guarded", "plain"))
    conditions = (
        f"CPU time, the least of {_ROUNDS} rounds; {len(_HEADERS)} headers, {_CONNECTIONS} connections"
    )
    return [
        Line(
            "limits: a request",
            f"{ours:.0f} us",
            conditions,
            ratio=ours / bare,
            floor=f"without {bare:.0f} us",
            goal=1.05,
        )
    ]


async def _cpu_of_a_request(port: int) -> float:
    """Seconds of the server's CPU time per request."""
    url = f"http://127.0.0.1:{port}"
    async with httpx2.AsyncClient(base_url=url) as client:
        before = float((await client.get("/cpu")).text)
        payload = request(f"{url}/sessions", **_HEADERS)
        result = await load(payload, port, seconds=_SECONDS, connections=_CONNECTIONS)
        after = float((await client.get("/cpu")).text)
    return (after - before) / len(result.latencies)
