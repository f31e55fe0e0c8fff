"""The usage of the daemon's machine, from its kernel's counters.

One script reads them. It runs here if the daemon is on this machine, and otherwise in a short-lived container with the
network of the daemon's machine.
"""

import asyncio
import os
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

import structlog

from carrel.engines.docker.api import DockerApi
from carrel.engines.docker.container_config import Names
from carrel.engines.docker.helper import PATH, run_helper
from carrel.engines.optional import HostUsage

log = structlog.get_logger()

_TICK_NS = 10_000_000
"""The kernel counts processor time in hundredths of a second for all programs (USER_HZ)."""
_SECTOR_BYTES = 512
"""The unit of /proc/diskstats on every disk."""
_BUSY = (0, 1, 2, 5, 6)
"""user, nice, system, irq and softirq in /proc/stat; user contains guest, and steal is other machines' use."""


async def read(api: DockerApi, names: Names) -> HostUsage | None:
    """A reading of the daemon's machine; None if it cannot be measured. Raises: DockerError, EngineUnavailable."""
    info = await api.call("GET", "info")
    if is_here(api, info):
        output = await _run_here(script(info["DockerRootDir"]))
    else:
        # The root of a container is in the file system that has all of them.
        output = await run_helper(api, names, "host", script("/"), host={})
    usage = parse(output or "", info["Name"])
    if usage is None:
        log.info("host_usage.not_measured", node=info["Name"])
    return usage


def is_here(api: DockerApi, info: Mapping[str, Any]) -> bool:
    """True if the daemon, which answers this, is on this machine."""
    return api.is_local and info["Name"] == os.uname().nodename


def script(directory: str) -> str:
    """A shell script that writes what `parse` reads. directory: in the file system whose size is read."""
    return f"""
for file in stat meminfo net/dev diskstats; do echo "= $file"; cat /proc/$file; done
echo "= interfaces"; ls -d /sys/class/net/*/device
echo "= disks"; ls -d /sys/block/*/device
echo "= df"; df -kP {shlex.quote(directory)}
true
"""


def parse(output: str, node: str) -> HostUsage | None:
    """The reading from the script's output; None if it is incomplete.

    Only interfaces and disks with a device count: others, such as bridges and logical volumes, pass on what those
    transfer.
    """
    sections = {
        title: lines.splitlines()
        for title, _, lines in (part.partition("\n") for part in output.split("= ")[1:])
    }
    try:
        ticks = [int(field) for field in sections["stat"][0].split()[1:]]
        memory = {
            name: int(rest.split()[0]) for name, rest in (line.split(":") for line in sections["meminfo"])
        }
        network = {
            name.strip(): rest.split()
            for name, _, rest in (line.partition(":") for line in sections["net/dev"])
        }
        disks = {fields[2]: fields for fields in (line.split() for line in sections["diskstats"])}
        interfaces, devices = (
            _chosen(sections[title], of) for title, of in (("interfaces", network), ("disks", disks))
        )
        size_kib, used_kib = (int(field) for field in sections["df"][-1].split()[1:3])
        return HostUsage(
            node,
            cpu_ns=sum(ticks[place] for place in _BUSY) * _TICK_NS,
            mem_bytes=(memory["MemTotal"] - memory["MemAvailable"]) * 1024,
            received_bytes=_sum(interfaces, 0),
            sent_bytes=_sum(interfaces, 8),
            read_bytes=_sum(devices, 5) * _SECTOR_BYTES,
            written_bytes=_sum(devices, 9) * _SECTOR_BYTES,
            disk_used_bytes=used_kib * 1024,
            disk_size_bytes=size_kib * 1024,
        )
    except (KeyError, IndexError, ValueError):
        return None


def _chosen(paths: Iterable[str], of: Mapping[str, list[str]]) -> list[list[str]]:
    """The fields of those whose path /sys/.../NAME/device exists."""
    return [of[name] for name in (path.split("/")[-2] for path in paths) if name in of]


def _sum(rows: Iterable[list[str]], field: int) -> int:
    return sum(int(row[field]) for row in rows)


async def _run_here(text: str) -> str | None:
    process = await asyncio.create_subprocess_exec(
        "/bin/sh",
        "-c",
        text,
        env={"PATH": PATH, "LC_ALL": "C"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    output, _ = await process.communicate()
    return output.decode(errors="replace") if process.returncode == 0 else None
