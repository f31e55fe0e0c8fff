"""What the API server asks of kubelets, for all simulated nodes: logs that stay open and empty, and usage.

`hollow_kubelet.py FOLDER ADDRESS`: with the certificate of the API server in the folder, and UIDs in pods.json.
"""

import asyncio
import itertools
import json
import ssl
import sys
from pathlib import Path

from aiohttp import web

PORT = 10255
PODS = "pods.json"
"""A list of UIDs for each node."""


class Kubelet:
    """All nodes have one address: each request for usage is for the next one."""

    def __init__(self, folder: Path) -> None:
        self._pods = folder / PODS
        self._turn = itertools.count()

    async def logs(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        if request.query.get("follow") == "true":
            await asyncio.Event().wait()
        return response

    async def summary(self, request: web.Request) -> web.Response:
        nodes = json.loads(self._pods.read_bytes())
        pods = [_stats(uid) for uid in nodes[next(self._turn) % len(nodes)]] if nodes else []
        return web.json_response({"pods": pods})


def _stats(uid: str) -> dict[str, object]:
    main = {
        "name": "session",
        "cpu": {"usageCoreNanoSeconds": 10**9},
        "memory": {"workingSetBytes": 1 << 26},
        "rootfs": {"usedBytes": 1 << 16},
    }
    return {
        "podRef": {"uid": uid},
        "containers": [main],
        "network": {"interfaces": [{"name": "eth0", "rxBytes": 1 << 20, "txBytes": 1 << 20}]},
        "volume": [{"name": "session", "usedBytes": 1 << 16}],
    }


def main(folder: Path, address: str) -> None:
    kubelet = Kubelet(folder)
    app = web.Application()
    app.router.add_get("/containerLogs/{namespace}/{pod}/{container}", kubelet.logs)
    app.router.add_get("/stats/summary", kubelet.summary)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(folder / "apiserver.pem", folder / "apiserver.key")
    web.run_app(app, host=address, port=PORT, ssl_context=tls, print=None, access_log=None)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
