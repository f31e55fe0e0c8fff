"""Processes of apps in their container: start, observe and stop them by files in one directory.

The container is the only record, so that any copy of the API has the truth after any restart. Below DIRECTORY each app
has a directory of its own:

    pid    process id, start time (Unix seconds), and the start of the container in which it was started
    log    what it prints
    exit   its exit code, once it has ended

Arguments reach the scripts as positional parameters, never as part of their text.
"""

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from carrel.apps.container_engines import ContainerEngines
from carrel.core.ids import ContainerId
from carrel.engines.port import APP_LAYER, EngineError

DIRECTORY = "${TMPDIR:-/tmp}/.carrel/apps"
MAX_LOG_BYTES = 1 << 20
_SCRIPT_S = 60.0
_SEARCHED = f'PATH="$PATH:$HOME/.local/bin:{APP_LAYER}/bin:{APP_LAYER}/busybox"; export PATH; '
"""The user's own programs and those of the app layer, after the image's."""

# The subshell waits for the app, which therefore survives the exec. Its output is read up to where it is closed: when
# the script returns, the file `pid` exists.
_START = (
    _SEARCHED + f'dir="{DIRECTORY}/$1"; start="$3 $2"; shift 3; umask 077; mkdir -p "$dir" || exit 1; '
    'rm -f "$dir/exit"; own=; command -v setsid >/dev/null 2>&1 && own=setsid; '
    ': $( ( $own "$@" </dev/null >"$dir/log" 2>&1 & pid=$!; echo "$pid $start" >"$dir/pid"; exec >/dev/null; '
    'wait "$pid"; echo $? >"$dir/exit" ) </dev/null 2>/dev/null & )'
)
_STATUS = (
    f'cd "{DIRECTORY}" 2>/dev/null || exit 0; '
    'for app in *; do [ -f "$app/pid" ] || continue; read -r pid at start <"$app/pid"; '
    '[ "$start" = "$1" ] || continue; code=-; '
    'if kill -0 "$pid" 2>/dev/null; then code=alive; elif [ -f "$app/exit" ]; then read -r code <"$app/exit"; fi; '
    'echo "$app $at $code"; done'
)
# setsid has made the app the leader of a session, which has all its processes but those that left it on purpose, as
# shells in terminals do. Without setsid, only the app itself is known.
_STOP = (
    f'dir="{DIRECTORY}/$1"; read -r pid at start <"$dir/pid" 2>/dev/null || exit 0; rm -f "$dir/pid"; '
    '[ "$start" = "$2" ] || exit 0; '
    'alive() { for one in /proc/[0-9]*/stat; do { read -r line <"$one"; } 2>/dev/null || continue; '
    'one="${one%/stat}"; set -- "${one#/proc/}" ${line##*) }; '
    'if [ "$2" != Z ] && { [ "$5" = "$pid" ] || [ "$1" = "$pid" ]; }; then echo "$1"; fi; done; }; '
    'end() { for one in $(alive); do kill "$1" "$one" 2>/dev/null; done; }; end -TERM; '
    'n=0; while [ "$n" -lt 50 ] && [ -n "$(alive)" ]; do n=$((n + 1)); sleep 0.1 2>/dev/null || sleep 1; done; '
    "end -KILL; exit 0"
)
_LOG = f'tail -n "$2" "{DIRECTORY}/$1/log" 2>/dev/null | tail -c {MAX_LOG_BYTES}'
_PROGRAMS = _SEARCHED + 'for one; do command -v "$one" >/dev/null 2>&1 && printf "%s\\n" "$one"; done; exit 0'
_LINE = re.compile(r"([a-z0-9-]{1,64}) (\d{1,12}) (alive|-|\d{1,3})")


@dataclass(frozen=True)
class AppProcess:
    """exit_code: None while it runs, or if it ended without one."""

    started_s: int
    alive: bool
    exit_code: int | None


class AppProcesses:
    """Reaches the containers by their engines. start: of the container, as text without spaces."""

    def __init__(self, engines: ContainerEngines) -> None:
        self._engines = engines

    async def start(
        self,
        container: ContainerId,
        app: str,
        command: Sequence[str],
        env: Mapping[str, str],
        *,
        start: str,
        now_s: int,
    ) -> None:
        """Start it in the background. Raises: EngineError."""
        await self._run(container, (_START, app, start, str(now_s), *command), env)

    async def status(self, container: ContainerId, *, start: str) -> dict[str, AppProcess]:
        """The apps that were started since the container's start, by name. Raises: EngineError."""
        lines = (await self._run(container, (_STATUS, start))).decode(errors="replace").splitlines()
        # A session can write anything there.
        known = [match.groups() for line in lines if (match := _LINE.fullmatch(line))]
        return {
            name: AppProcess(int(at), code == "alive", int(code) if code.isdigit() else None)
            for name, at, code in known
        }

    async def stop(self, container: ContainerId, app: str, *, start: str) -> None:
        """End it with its children, by force after some seconds. Twice: no-op. Raises: EngineError."""
        await self._run(container, (_STOP, app, start))

    async def log(self, container: ContainerId, app: str, *, lines: int) -> bytes:
        """The end of what it printed; empty if it was never started. Raises: EngineError."""
        return await self._run(container, (_LOG, app, str(lines)))

    async def programs(self, container: ContainerId, names: Collection[str]) -> set[str]:
        """Those that can be run. Raises: EngineError."""
        output = await self._run(container, (_PROGRAMS, *sorted(names)))
        return set(names) & set(output.decode(errors="replace").splitlines())

    async def _run(
        self, container: ContainerId, script: Sequence[str], env: Mapping[str, str] | None = None
    ) -> bytes:
        """What a short script prints. script: its text, then its parameters. Raises: EngineError.

        An image can have anything as its shell.
        """
        engine = await self._engines.of(container)
        command = ("sh", "-c", script[0], "app", *script[1:])
        printed = bytearray()
        try:
            async with (
                asyncio.timeout(_SCRIPT_S),
                engine.exec(container, command, env=env or {}, terminal=None) as stream,
            ):
                async for number, chunk in stream.output():
                    if number == 1:
                        printed += chunk
                    if len(printed) > 2 * MAX_LOG_BYTES:
                        raise EngineError("The shell of the session prints without end.", retriable=False)
                # Whoever leaves earlier hangs up on it, and on an app that has no process group of its own yet.
                await stream.exit_code()
        except TimeoutError:
            raise EngineError("The shell of the session does not respond.", retriable=False) from None
        return bytes(printed)
