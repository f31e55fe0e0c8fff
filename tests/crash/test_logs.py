"""Output of real containers: none is lost and none is repeated, whatever happens to the control plane."""

import asyncio
from collections.abc import Awaitable
from pathlib import Path

import orjson
from crash.control_plane import ControlPlaneProcess
from crash.place import Place
from people import eventually

KILLS = 3
# Printed as an app prints: to the main process's output. Every tenth line goes to standard error; a pause after so
# many lines sets the pace.
_PRINT = """
i=0
while [ $i -lt %(lines)d ]; do
  n=$((i + %(burst)d))
  while [ $i -lt $n ]; do
    case $i in *7) echo "err $i" >&2;; *) echo "out $i";; esac
    i=$((i + 1))
  done
  sleep 0.1
done >/proc/1/fd/1 2>/proc/1/fd/2
"""


async def _session(place: Place) -> tuple[str, str]:
    """A running session and its container."""
    session = await place.client.create("printer", place.image)

    async def container() -> str | None:
        shown = await place.client.get(f"/sessions/{session}")
        return str(shown["containers"][0]["id"]) if shown["state"] == "RUNNING" else None

    return session, await eventually(container, within_s=60, every_s=0.1)


async def _print(place: Place, container: str, *, lines: int, per_s: int) -> None:
    script = _PRINT % {"lines": lines, "burst": per_s // 10}
    async with place.engine.exec(container, ("sh", "-c", script), env={}, terminal=None) as process:
        async for _, chunk in process.output():
            raise AssertionError(chunk)
        assert await process.exit_code() == 0


async def _log(place: Place, session: str) -> list[tuple[str, str]]:
    answer = await place.client.text(f"/sessions/{session}/logs?format=json")
    records = [orjson.loads(line) for line in answer.splitlines()]
    return [(record["stream"], record["text"]) for record in records]


def _has_all(log: list[tuple[str, str]], lines: int) -> None:
    """Each line once, in order within its stream."""
    for stream, word in (("stdout", "out"), ("stderr", "err")):
        numbers = [number for number in range(lines) if (number % 10 == 7) == (word == "err")]
        texts = [text for kind, text in log if kind == stream]
        assert len(texts) == len(numbers), f"{stream}: {len(texts)} of {len(numbers)}"
        assert texts == [f"{word} {number}" for number in numbers]
    assert len(log) == lines


async def _ended(place: Place, session: str) -> None:
    await place.client.remove(session)

    async def terminated() -> bool:
        return bool((await place.client.get(f"/sessions/{session}"))["state"] == "TERMINATED")

    await eventually(terminated, within_s=60, every_s=0.1)


async def test_log_survives_kill_minus_nine_without_gaps_and_repeats(place: Place, tmp_path: Path) -> None:
    plane = place.plane
    assert isinstance(plane, ControlPlaneProcess)
    lines = 40_000
    session, container = await _session(place)

    async def kill_now_and_then(printing: Awaitable[None]) -> None:
        for _ in range(KILLS):
            await asyncio.sleep(2.3)
            plane.kill()
            plane.start()
        await printing

    await kill_now_and_then(asyncio.create_task(_print(place, container, lines=lines, per_s=4_000)))
    _has_all(await _log(place, session), lines)
    await _ended(place, session)
    _has_all(await _log(place, session), lines)
    stored = sum(file.stat().st_size for file in tmp_path.glob(f"session-logs/*/{container}.*"))
    assert 0 < stored < lines * 10, "compressed"


async def test_ten_thousand_lines_a_second_are_shown_without_loss(place: Place) -> None:
    lines = 60_000
    session, container = await _session(place)
    following = asyncio.create_task(place.client.text(f"/sessions/{session}/logs?format=json&follow=true"))
    await _print(place, container, lines=lines, per_s=10_000)
    await _ended(place, session)
    followed = [orjson.loads(line) for line in (await following).splitlines()]
    _has_all([(record["stream"], record["text"]) for record in followed], lines)
    assert [record["at"] for record in followed] == [
        orjson.loads(line)["at"]
        for line in (await place.client.text(f"/sessions/{session}/logs?format=json")).splitlines()
    ]
