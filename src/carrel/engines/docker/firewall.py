"""Isolation of sessions from the machine they run on.

Through the gateway of its bridge, a container can connect to every service that its host binds beyond loopback. Packet
filter rules prevent that: traffic from a session's bridge to the host is dropped unless the host opened the connection,
and so is traffic to link-local addresses (the metadata service of clouds) and to other sessions, in case the daemon
does not isolate them. One more rule bounds the concurrent connections per address through the machine, since all share
the kernel's connection table. The rules are in the `mangle` table, which neither Docker nor common firewall front ends
rewrite, and match bridges by name prefix.

Root on this machine runs iptables. Users with access to Docker only get the same by a helper container with NET_ADMIN.
"""

import asyncio
import os
import shutil
from pathlib import Path

import structlog

from carrel.engines.docker.api import DockerApi
from carrel.engines.docker.container_config import Names
from carrel.engines.docker.helper import PATH, run_helper

log = structlog.get_logger()

_TOOL = "iptables -w 10 -t mangle"

MOST_CONNECTIONS = 8192
"""Connections of one address through the machine; the kernel's table holds 262,144 except on small machines."""


def rules(bridge: str) -> list[str]:
    """The rules in the syntax of iptables, starting with the chain, for bridges with the name prefix `bridge`."""
    return [
        f"INPUT -i {bridge}+ -m conntrack ! --ctstate ESTABLISHED,RELATED -j DROP",
        f"FORWARD -i {bridge}+ -d 169.254.0.0/16 -j DROP",
        f"FORWARD -i {bridge} -o {bridge} -j DROP",
    ]


def routed_rule(bridge: str) -> str:
    """The rule against traffic from one bridge to another. What stays on one bridge is that of a private network."""
    return f"FORWARD -i {bridge}+ -o {bridge}+ -m physdev ! --physdev-is-bridged -j DROP"


def _unrouted_rule(bridge: str) -> str:
    """The rule of versions before 0.5, and of kernels that cannot tell: they do not filter what stays on a bridge."""
    return f"FORWARD -i {bridge}+ -o {bridge}+ -j DROP"


def connection_rule(bridge: str) -> str:
    """The rule that rejects new connections of an address at its limit. Some kernels lack the required module."""
    return (
        f"FORWARD -i {bridge}+ -m conntrack --ctstate NEW"
        f" -m connlimit --connlimit-above {MOST_CONNECTIONS} --connlimit-mask 32 -j DROP"
    )


def insert_script(bridge: str) -> str:
    """A shell script that inserts missing rules. Twice: no-op. If the kernel cannot count connections, the other rules
    apply without that one.
    """
    lines = [f"{_TOOL} -C {rule} 2>/dev/null || {_TOOL} -I {rule}" for rule in rules(bridge)]
    routed, unrouted = routed_rule(bridge), _unrouted_rule(bridge)
    lines += [
        f"if {_TOOL} -C {routed} 2>/dev/null || {_TOOL} -I {routed} 2>/dev/null; then",
        f"while {_TOOL} -D {unrouted} 2>/dev/null; do :; done",
        f"else {_TOOL} -C {unrouted} 2>/dev/null || {_TOOL} -I {unrouted}; fi",
    ]
    counting = connection_rule(bridge)
    lines.append(f"{_TOOL} -C {counting} 2>/dev/null || {_TOOL} -I {counting} || true")
    return "set -e\n" + "\n".join(lines)


def delete_script(bridge: str) -> str:
    """A shell script that deletes every copy of the rules."""
    written = [*rules(bridge), routed_rule(bridge), _unrouted_rule(bridge), connection_rule(bridge)]
    return "\n".join(f"while {_TOOL} -D {rule} 2>/dev/null; do :; done" for rule in written)


class Firewall:
    """The rules of an installation on the daemon's machine."""

    def __init__(self, api: DockerApi, names: Names) -> None:
        self._api = api
        self._names = names
        self._applying = asyncio.Lock()
        self._settled = False
        self._warned = False
        self.holds = False
        """True if the rules are in place, as far as known."""

    async def apply(self) -> None:
        """Apply the rules unless already attempted; a failure is logged and `holds` stays false."""
        async with self._applying:
            if self._settled:
                return
            held = self.holds
            script = insert_script(self._names.bridge)
            if self._reaches_host():
                self.holds = await run_here(script)
            else:
                self.holds = await self.run_in_container(script)
            self._settled = True
            if not self.holds and (held or not self._warned):
                self._warned = True
                log.warning("firewall.not_applied", bridge=self._names.bridge)

    async def recheck(self) -> None:
        """Restore flushed rules, if that needs no container."""
        if self._reaches_host():
            self.forget()
            await self.apply()

    def forget(self) -> None:
        """Retry on the next `apply`: the daemon or its machine may have restarted."""
        self._settled = False

    async def purge(self) -> None:
        """Delete the rules."""
        script = delete_script(self._names.bridge)
        if _may_filter():
            # Even if no bridge remains that shows whether the daemon shares our network: it is harmless.
            await run_here(script)
        if not self._reaches_host():
            await self.run_in_container(script)
        self.holds = self._settled = False

    def _reaches_host(self) -> bool:
        """True if iptables in this process affects the bridges: root, and the daemon in the same network namespace."""
        return _may_filter() and any(Path("/sys/class/net").glob(f"{self._names.bridge}*"))

    async def run_in_container(self, script: str) -> bool:
        """Run a shell script as root in the host's network; true on success."""
        host = {"CapAdd": ["NET_ADMIN", "NET_RAW"]}
        script = f"export XTABLES_LOCKFILE=/tmp/xtables.lock\n{script}"
        return await run_helper(self._api, self._names, "firewall", script, host=host) is not None


def _may_filter() -> bool:
    return os.geteuid() == 0 and shutil.which("iptables", path=PATH) is not None


async def run_here(script: str) -> bool:
    """Run a shell script on this machine; true on success."""
    process = await asyncio.create_subprocess_exec(
        "/bin/sh",
        "-c",
        script,
        env={"PATH": PATH},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    _, complaint = await process.communicate()
    if process.returncode:
        log.warning("firewall.iptables_failed", error=complaint.decode(errors="replace").strip()[-500:])
    return process.returncode == 0
