"""The output of main processes, from the log that a node keeps.

Kubernetes does not say which stream a line came from, unless a feature is on that no cluster has by default
(PodLogsQuerySplitStreams): everything is stdout.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from datetime import UTC, datetime

from carrel.engines.kubernetes.kubernetes_api import ApiError, KubernetesApi
from carrel.engines.kubernetes.pods import SESSION
from carrel.engines.port import ContainerGone, EngineUnavailable, LogRecord

_STDOUT = 1
_LINE_BYTES = 1 << 20
"""The longest record; the rest of its line follows in others."""


async def read_logs(
    api: KubernetesApi, path: str, *, follow: bool, tail: int | None, since: bytes | None
) -> AsyncIterator[list[LogRecord]]:
    """Records of a pod, as many at a time as have arrived. Raises: ContainerGone, EngineUnavailable."""
    last = since
    async with aclosing(_read(api, path, follow=follow, tail=tail, since=since)) as batches:
        async for records in batches:
            yield records
            last = records[-1].at
    if not follow or last is None:
        return
    # A kubelet that has not read a rotated file to its end when the container ends does not open the next one.
    with suppress(ContainerGone):
        async with aclosing(_read(api, path, follow=False, tail=None, since=last)) as batches:
            async for records in batches:
                if rest := [one for one in records if one.at > last]:
                    yield rest


async def _read(
    api: KubernetesApi, path: str, *, follow: bool, tail: int | None, since: bytes | None
) -> AsyncGenerator[list[LogRecord]]:
    params = {"container": SESSION, "timestamps": "true", "follow": "true" if follow else "false"}
    if tail is not None:
        params["tailLines"] = str(tail)
    if since is not None:
        params["sinceTime"] = since[:19].decode() + "Z"
    lines = _Lines()
    try:
        async with api.stream(f"{path}/log", params=params, may_be_silent=True) as content:
            while block := await content.readany():
                # The server only knows whole seconds.
                records = [one for one in lines.split(block) if since is None or one.at >= since]
                if records:
                    yield records
    except ApiError as error:
        if error.status == 404:
            raise ContainerGone(f"There is no container {path.rsplit('/', 1)[1]}.") from error
        if error.status >= 500:
            raise EngineUnavailable("The node of the container does not respond.") from error
        if error.status != 400 or "waiting to start" not in error.message:
            raise


class _Lines:
    """Splits the stream into records."""

    def __init__(self) -> None:
        self._rest = b""
        self._at = b""
        """The time of an incomplete line of which records have been made."""

    def split(self, block: bytes) -> list[LogRecord]:
        records = []
        *whole, self._rest = (self._rest + block).split(b"\n")
        for line in whole:
            records.append(self._record(line + b"\n"))
            self._at = b""
        if len(self._rest) > _LINE_BYTES:
            records.append(self._record(self._rest))
            self._at, self._rest = records[-1].at, b""
        return records

    def _record(self, line: bytes) -> LogRecord:
        if self._at:
            return LogRecord(self._at, _STDOUT, line)
        time, _, content = line.partition(b" ")
        return LogRecord(_normal(time), _STDOUT, content)


def _normal(time: bytes) -> bytes:
    """UTC with nine decimals; a node has its own time zone and may omit zeros at the end."""
    if len(time) == 30 and time.endswith(b"Z"):
        return time
    text = time.decode()
    moment = datetime.fromisoformat(text).astimezone(UTC)
    digits = text.partition(".")[2]
    for end, letter in enumerate(digits):
        if not letter.isdigit():
            digits = digits[:end]
            break
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{digits:0<9.9}Z".encode()
