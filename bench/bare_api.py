"""The least that FastAPI can do: one endpoint that returns the bytes of a file. `bare_api.py FILE PORT`."""

import sys
from pathlib import Path

import uvicorn
from fastapi import FastAPI, Response

app = FastAPI(openapi_url=None)
BODY = Path(sys.argv[1]).read_bytes()


@app.get("/sessions")
async def sessions(limit: int = 50) -> Response:
    return Response(BODY, media_type="application/json")


uvicorn.run(
    app, port=int(sys.argv[2]), log_level="warning", access_log=False, server_header=False, lifespan="off"
)
