"""A minimal FastAPI application: one endpoint that returns the bytes of a file. `bare_api.py FILE plain|guarded PORT`.

guarded: with the limits on requests and connections of the API. `/cpu`: the seconds of CPU time used so far.
"""

import sys
import time
from pathlib import Path

import uvicorn
from fastapi import FastAPI, Response
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from carrel.http.guard import ConnectionLimit, RequestLimits
from carrel.http.protocol import GuardedProtocol

PROTOCOLS: dict[str, type[HttpToolsProtocol]] = {
    "plain": HttpToolsProtocol,
    "guarded": GuardedProtocol.limited(RequestLimits(), ConnectionLimit(100)),
}
app = FastAPI(openapi_url=None)
BODY = Path(sys.argv[1]).read_bytes()


@app.get("/sessions")
async def sessions(limit: int = 50) -> Response:
    return Response(BODY, media_type="application/json")


@app.get("/cpu")
async def cpu() -> float:
    return time.process_time()


uvicorn.run(
    app,
    port=int(sys.argv[3]),
    http=PROTOCOLS[sys.argv[2]],
    log_level="warning",
    access_log=False,
    server_header=False,
    lifespan="off",
)
