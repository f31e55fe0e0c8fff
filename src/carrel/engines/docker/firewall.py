"""Keeping sessions away from the machine they run on.

A container reaches whatever its host binds beyond loopback, through the gateway of its bridge. Rules of the
kernel's packet filter stop that: what comes from a session's bridge for the host itself is dropped unless the
host began the conversation, and so is what a session sends to link-local addresses (the metadata service of
clouds) and to other sessions, should the daemon not see to that. One more bounds how many connections through the
machine an address has at a time, since all share the kernel's table of them. They live in the `mangle` table, which
neither Docker nor the usual firewall front ends rewrite, and match bridges by the beginning of their name.

Root on this machine runs iptables. Somebody who may only use Docker gets the same by a short-lived container
with the host's network, NET_ADMIN and the host's own iptables mounted read-only.
"""

import asyncio
import os
import shutil
from pathlib import Path

import aiodocker
import structlog

from carrel.engines.docker.api import DockerApi
from carrel.engines.docker.spec import LABEL_INSTALLATION, Names
from carrel.engines.port import EngineUnavailable

log = structlog.get_logger()

_PATH = "/usr/sbin:/sbin:/usr/bin:/bin"
_TOOL = "iptables -w 10 -t mangle"
_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/alternatives")
"""Folders that hold iptables, its loader and its libraries, on every common distribution."""

MOST_CONNECTIONS = 8192
"""Of one address through the machine; the kernel's table holds 262,144 on all but small machines."""


def rules(bridge: str) -> list[str]:
    """The rules as iptables writes them, from the chain on, for bridges whose name starts with `bridge`."""
    return [
        f"INPUT -i {bridge}+ -m conntrack ! --ctstate ESTABLISHED,RELATED -j DROP",
        f"FORWARD -i {bridge}+ -d 169.254.0.0/16 -j DROP",
        f"FORWARD -i {bridge}+ -o {bridge}+ -j DROP",
    ]


def connection_rule(bridge: str) -> str:
    """Refuses new connections to an address that has as many as it may. Some kernels lack what it takes."""
    return (
        f"FORWARD -i {bridge}+ -m conntrack --ctstate NEW"
        f" -m connlimit --connlimit-above {MOST_CONNECTIONS} --connlimit-mask 32 -j DROP"
    )


def insert_script(bridge: str) -> str:
    """Shell lines that put the rules where they are missing. Twice: no-op. Where the kernel cannot count connections,
    the others hold without that.
    """
    lines = [f"{_TOOL} -C {rule} 2>/dev/null || {_TOOL} -I {rule}" for rule in rules(bridge)]
    counting = connection_rule(bridge)
    lines.append(f"{_TOOL} -C {counting} 2>/dev/null || {_TOOL} -I {counting} || true")
    return "set -e\n" + "\n".join(lines)


def delete_script(bridge: str) -> str:
    """Shell lines that take every copy of the rules away."""
    written = [*rules(bridge), connection_rule(bridge)]
    return "\n".join(f"while {_TOOL} -D {rule} 2>/dev/null; do :; done" for rule in written)


class Firewall:
    """The rules of one installation on the machine of its daemon."""

    def __init__(self, api: DockerApi, names: Names) -> None:
        self._api = api
        self._names = names
        self._applying = asyncio.Lock()
        self._settled = False
        self._warned = False
        self.holds = False
        """Whether the rules are in place, as far as we know."""

    async def apply(self, image: str | None) -> None:
        """Put the rules in place unless that has been tried; a failure is logged and leaves `holds` false.

        image: any image in the daemon, to run the helper container in; without one only root's way is tried.
        """
        async with self._applying:
            if self._settled:
                return
            held = self.holds
            script = insert_script(self._names.bridge)
            if self._reaches_host():
                self.holds, self._settled = await run_here(script), True
            elif image is not None:
                self.holds, self._settled = await self.run_in_container(script, image), True
            if self._settled and not self.holds and (held or not self._warned):
                self._warned = True
                log.warning("firewall.not_applied", bridge=self._names.bridge)

    async def recheck(self) -> None:
        """Put the rules back if something flushed them; only where that costs no container."""
        if self._reaches_host():
            self.forget()
            await self.apply(None)

    def forget(self) -> None:
        """Try again at the next `apply`: the daemon or its machine may have started anew."""
        self._settled = False

    async def purge(self, image: str | None) -> None:
        """Take the rules away."""
        script = delete_script(self._names.bridge)
        if _may_filter():
            # Also when no bridge is left to tell whether the daemon shares our network: it harms nobody.
            await run_here(script)
        if image is not None and not self._reaches_host():
            await self.run_in_container(script, image)
        self.holds = self._settled = False

    def _reaches_host(self) -> bool:
        """Whether iptables run by us acts where the bridges are: root, and a daemon in our own network."""
        return _may_filter() and any(Path("/sys/class/net").glob(f"{self._names.bridge}*"))

    async def run_in_container(self, script: str, image: str) -> bool:
        """Run shell lines as root in the host's network; true when they succeeded."""
        name = f"{self._names.network}-firewall"
        folders = _present() if self._api.is_local else _FOLDERS
        body = {
            "Image": image,
            "User": "0:0",
            "Entrypoint": ["/bin/sh", "-c", script],
            "Cmd": [],
            "Env": [f"PATH={_PATH}", "XTABLES_LOCKFILE=/tmp/xtables.lock"],
            "Healthcheck": {"Test": ["NONE"]},
            # Not our id label: this is no session.
            "Labels": {LABEL_INSTALLATION + ".firewall": self._names.installation},
            "HostConfig": {
                "NetworkMode": "host",
                "CapDrop": ["ALL"],
                "CapAdd": ["NET_ADMIN", "NET_RAW"],
                "Mounts": [
                    {"Type": "bind", "Source": path, "Target": path, "ReadOnly": True} for path in folders
                ],
            },
        }
        try:
            await self._discard(name)
            await self._api.call("POST", "containers/create", params={"name": name}, body=body)
            await self._api.call("POST", f"containers/{name}/start")
            ended = await self._api.call("POST", f"containers/{name}/wait")
            return bool(ended["StatusCode"] == 0)
        except (aiodocker.DockerError, EngineUnavailable) as error:
            log.warning("firewall.helper_failed", error=str(error))
            return False
        finally:
            await self._discard(name)

    async def _discard(self, name: str) -> None:
        try:
            await self._api.call("DELETE", f"containers/{name}", params={"force": "true"})
        except (aiodocker.DockerError, EngineUnavailable):
            pass  # none there, or it is left for the next try to discard


def _may_filter() -> bool:
    return os.geteuid() == 0 and shutil.which("iptables", path=_PATH) is not None


def _present() -> list[str]:
    return [path for path in _FOLDERS if Path(path).exists()]


async def run_here(script: str) -> bool:
    """Run shell lines on this machine; true when they succeeded."""
    process = await asyncio.create_subprocess_exec(
        "/bin/sh",
        "-c",
        script,
        env={"PATH": _PATH},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    _, complaint = await process.communicate()
    if process.returncode:
        log.warning("firewall.iptables_failed", error=complaint.decode(errors="replace").strip()[-500:])
    return process.returncode == 0
