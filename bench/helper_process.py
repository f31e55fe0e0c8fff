"""A server beside the control plane, in a separate process."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


@asynccontextmanager
async def helper(module: str, *arguments: str) -> AsyncIterator[int]:
    """Run `python -m MODULE ARGUMENTS PORT` until the block ends; yields the port once it is open."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", module, *arguments, str(port))
    try:
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
                break
            except OSError:
                if process.returncode is not None:
                    raise RuntimeError(f"{module} ended with {process.returncode}") from None
                await asyncio.sleep(0.05)
        yield port
    finally:
        process.terminate()
        await process.wait()
