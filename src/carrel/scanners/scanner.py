"""Runs the command of a scanner, with limits."""

import asyncio
import os
import re
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from carrel.core.units import format_size
from carrel.scanners.parsing import parse
from carrel.scanners.reports import ReportError, ScannerReport

PLACEHOLDER = "{reference}"
MOST_OUTPUT_BYTES = 64 << 20
_CHUNK = 1 << 16
_LAST_WORDS = 4096
_END_S = 5.0
_PARALLEL = 4
"""Cores that it may keep busy on average."""
_SECRET = ("CARREL_", "PG")
"""Beginnings of the variables of this server, which may hold passwords."""
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_ERROR = re.compile(r"\b(?:ERROR|FATAL)\b")
_LIMITED = 'ulimit -c 0; ulimit -d "$1"; ulimit -t "$2"; shift 2; exec nice -n 10 "$@"'


class ScannerFailed(Exception):
    """It gave no report; the message is for people."""


@dataclass(frozen=True)
class Scanner:
    """command: program and arguments, with {reference} in one of them; no shell reads them.

    timeout_s: of a scan. memory_bytes: of each of its processes.
    """

    command: Sequence[str]
    timeout_s: float
    memory_bytes: int

    async def scan(self, reference: str, variables: Mapping[str, str]) -> ScannerReport:
        """What the scanner finds in the image. variables: of its environment, besides ours.

        Cancelling ends all processes of the scanner. Raises: ScannerFailed.
        """
        words = [word.replace(PLACEHOLDER, reference) for word in self.command]
        limits = str(self.memory_bytes >> 10), str(int(self.timeout_s * _PARALLEL) + 1)
        process = await asyncio.create_subprocess_exec(
            "/bin/sh",
            "-c",
            _LIMITED,
            "sh",
            *limits,
            *words,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=_environment(variables),
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(self.timeout_s):
                output = await self._output(process)
        except TimeoutError:
            raise ScannerFailed(f"The scanner was ended after {self.timeout_s:.0f} seconds.") from None
        finally:
            # Its children as well, also after an orderly end.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await _over(process)
        try:
            return await asyncio.to_thread(parse, output)
        except ReportError as error:
            raise ScannerFailed(str(error)) from None

    async def _output(self, process: asyncio.subprocess.Process) -> bytes:
        assert process.stdout
        assert process.stderr
        complaint = asyncio.create_task(_end_of(process.stderr))
        try:
            output = bytearray()
            while chunk := await process.stdout.read(_CHUNK):
                output += chunk
                if len(output) > MOST_OUTPUT_BYTES:
                    raise ScannerFailed(f"The output is larger than {format_size(MOST_OUTPUT_BYTES)}.")
            code = await process.wait()
            if code:
                raise ScannerFailed(_why(code, await complaint))
            return bytes(output)
        finally:
            complaint.cancel()


async def _over(process: asyncio.subprocess.Process) -> None:
    """Wait until it has ended. What is left is read, since wait() of some event loops does not return while a full pipe
    is not read. A process that has left the group may keep the pipe.
    """
    assert process.stdout
    assert process.stderr
    with suppress(TimeoutError):
        async with asyncio.timeout(_END_S):
            await asyncio.gather(_end_of(process.stdout), _end_of(process.stderr))
            await process.wait()


async def _end_of(stream: asyncio.StreamReader) -> bytes:
    last = b""
    while chunk := await stream.read(_CHUNK):
        last = (last + chunk)[-_LAST_WORDS:]
    return last


def _why(code: int, complaint: bytes) -> str:
    """The last lines from the last that names an error on, without colours."""
    plain = _COLOUR.sub("", complaint.decode(errors="replace").replace("\0", ""))
    lines = [" ".join(line.split()) for line in plain.splitlines() if line.strip()]
    errors = [number for number, line in enumerate(lines) if _ERROR.search(line)]
    last = " ".join(lines[errors[-1] if errors else -1 :])
    ended = f"signal {-code}" if code < 0 else f"code {code}"
    return f"The scanner ended with {ended}" + (f": {last[:500]}" if last else ".")


def _environment(variables: Mapping[str, str]) -> Mapping[str, str]:
    known = {name: value for name, value in os.environ.items() if not name.startswith(_SECRET)}
    return {**known, **variables}
