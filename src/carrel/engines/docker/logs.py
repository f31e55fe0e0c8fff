"""The output of main processes: the daemon's multiplexed stream, as records.

Each record is a frame: a header of eight bytes (stream, length), then the time and a blank before the content, because
the request has `timestamps`. Source: Docker Engine API, ContainerAttach and ContainerLogs.
"""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import aiodocker

from carrel.engines.docker.api import DockerApi
from carrel.engines.docker.exec_streams import gone_or_refused
from carrel.engines.port import ContainerGone, EngineError, EngineUnavailable, LogRecord

_HEADER_BYTES = 8
_TIME_BYTES = len(b"2026-01-02T03:04:05.123456789Z")
_DAEMON = 3
"""The stream on which the daemon reports that it cannot read the log any further."""


async def read_logs(
    api: DockerApi, daemon_name: str, *, follow: bool, tail: int | None, since: bytes | None
) -> AsyncIterator[list[LogRecord]]:
    """Records of a container, as many at a time as have arrived.

    Raises: ContainerGone, EngineUnavailable, EngineError.
    """
    params = {
        "stdout": "true",
        "stderr": "true",
        "timestamps": "true",
        "follow": "true" if follow else "false",
        "tail": "all" if tail is None else str(tail),
    } | ({"since": _unix_time(since)} if since else {})  # Podman rejects an empty one.
    rest = b""
    try:
        async with api.stream("GET", f"containers/{daemon_name}/logs", params=params) as content:
            while block := await content.readany():
                records, rest = split(rest + block)
                if records:
                    yield records
    except aiodocker.DockerError as error:
        if error.status == 404:
            raise ContainerGone(f"There is no container {daemon_name}.") from error
        raise gone_or_refused(daemon_name, error) from error
    if rest:
        raise EngineUnavailable("The container engine closed the log early.")


def split(frames: bytes) -> tuple[list[LogRecord], bytes]:
    """The records of all complete frames, and the incomplete one after them."""
    records: list[LogRecord] = []
    at, end = 0, len(frames)
    while at + _HEADER_BYTES <= end:
        begin = at + _HEADER_BYTES
        length = int.from_bytes(frames[at + 4 : begin], "big")
        if begin + length > end:
            break
        records.append(_record(frames[at], frames[begin : begin + length]))
        at = begin + length
    return records, frames[at:]


def _record(stream: int, body: bytes) -> LogRecord:
    if body[_TIME_BYTES - 1 : _TIME_BYTES + 1] == b"Z ":
        return LogRecord(body[:_TIME_BYTES], stream, body[_TIME_BYTES + 1 :])
    if stream == _DAEMON:
        text = body.decode(errors="replace").strip().rstrip(".")
        raise EngineError(f"The container engine cannot read the log: {text}.", retriable=True)
    # Podman has the time zone of its machine and may omit zeros at the end.
    time, _, content = body.partition(b" ")
    return LogRecord(_normal(time.decode()), stream, content)


def _normal(time: str) -> bytes:
    moment = datetime.fromisoformat(time).astimezone(UTC)
    _, _, fraction = time.partition(".")
    digits = ""
    for letter in fraction:
        if not letter.isdigit():
            break
        digits += letter
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{digits:0<9.9}Z".encode()


def _unix_time(at: bytes) -> str:
    seconds, fraction = at.decode().rstrip("Z").split(".")
    return f"{int(datetime.fromisoformat(seconds + '+00:00').timestamp())}.{fraction}"
