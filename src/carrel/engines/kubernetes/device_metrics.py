"""Measurements of the devices of a cluster, from exporters. Readings go on beside: nobody waits for an exporter."""

import asyncio
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import aiohttp
import structlog

from carrel.engines.kubernetes import exporter_text
from carrel.engines.kubernetes.exporter_text import ExporterReading, ReadingIndex
from carrel.engines.kubernetes.kubernetes_api import ApiError, KubernetesApi
from carrel.engines.port import EngineUnavailable

log = structlog.get_logger()

_FRESH_S = 10.0
_KNOWN_S = 60.0
_ANSWER_S = 5.0
_AT_ONCE = 16
_LONGEST = 16 << 20
_NODE, _ADDRESS = "{node}", "{address}"


class _ExporterAnswer(NamedTuple):
    at: float
    readings: Sequence[ExporterReading]


class DeviceMetricsReader:
    """url: of one exporter or Prometheus for all nodes, or with {node} or {address} of one for each; if it begins with
    a slash, it is a path of the API server. Empty: nothing is measured.
    """

    def __init__(self, api: KubernetesApi, url: str) -> None:
        self._api, self._url = api, url
        self._answers: dict[str, _ExporterAnswer] = {}
        """The last of each exporter, by its URL."""
        self._begun_at = float("-inf")
        self._reading: asyncio.Task[None] | None = None
        self._failed: frozenset[str] = frozenset()

    @property
    def measures(self) -> bool:
        """True if there is an exporter."""
        return bool(self._url)

    def latest(self, machines: Collection[Mapping[str, Any]]) -> ReadingIndex:
        """What was measured in the last minute. A new reading begins if the last one is some seconds old.

        machines: the nodes that are ready and have devices.
        """
        now = time.monotonic()
        idle = self._reading is None or self._reading.done()
        if self._url and machines and idle and now - self._begun_at >= _FRESH_S:
            self._begun_at = now
            self._reading = asyncio.create_task(self._read(machines))
        self._answers = {url: one for url, one in self._answers.items() if now - one.at < _KNOWN_S}
        return exporter_text.indexed(
            reading for _, answer in sorted(self._answers.items()) for reading in answer.readings
        )

    async def close(self) -> None:
        """Twice: no-op."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait({self._reading})

    async def _read(self, machines: Collection[Mapping[str, Any]]) -> None:
        urls = {self._url.replace(_NODE, _name(one)).replace(_ADDRESS, _address(one)) for one in machines}
        at_once = asyncio.Semaphore(_AT_ONCE)
        failed: set[str] = set()
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=_ANSWER_S)) as client:
            await asyncio.gather(*(self._ask(url, client, at_once, failed) for url in sorted(urls)))
        if failed - self._failed:
            log.warning("kubernetes.devices_not_measured", exporters=len(failed), first=min(failed))
        self._failed = frozenset(failed)

    async def _ask(
        self, url: str, client: aiohttp.ClientSession, at_once: asyncio.Semaphore, failed: set[str]
    ) -> None:
        """Keep the answer at once: an exporter that does not answer delays no other."""
        with suppress(ApiError, EngineUnavailable, aiohttp.ClientError, TimeoutError, ValueError):
            async with at_once:
                content = await self._content(url, client)
            at = time.monotonic()
            self._answers[url] = _ExporterAnswer(
                at, await asyncio.to_thread(exporter_text.read, content.decode())
            )
            return
        failed.add(url)

    async def _content(self, url: str, client: aiohttp.ClientSession) -> bytes:
        """Raises: ValueError if it is too long, ApiError, EngineUnavailable, aiohttp.ClientError, TimeoutError."""
        if url.startswith("/"):
            async with (
                asyncio.timeout(_ANSWER_S),
                self._api.stream(url[1:], params=(), may_be_silent=True) as stream,
            ):
                return await _limited(stream)
        async with client.get(url, allow_redirects=False, raise_for_status=True) as response:
            return await _limited(response.content)


async def _limited(stream: aiohttp.StreamReader) -> bytes:
    parts, length = [], 0
    async for part in stream.iter_chunked(1 << 16):
        parts.append(part)
        length += len(part)
        if length > _LONGEST:
            raise ValueError("too long")
    return b"".join(parts)


def _name(machine: Mapping[str, Any]) -> str:
    return str(machine["metadata"]["name"])


def _address(machine: Mapping[str, Any]) -> str:
    addresses = machine["status"].get("addresses") or ()
    address = next((one["address"] for one in addresses if one["type"] == "InternalIP"), _name(machine))
    return f"[{address}]" if ":" in address else address
