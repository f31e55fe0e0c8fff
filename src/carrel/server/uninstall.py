"""`carrel uninstall`: removes what `carrel up` made on this machine, after saying what; data only when told to."""

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import aiodocker
import psycopg

from carrel.core.errors import Conflict, Unavailable
from carrel.engines.docker import DockerEngine
from carrel.engines.port import ClaimedElsewhere, EngineError
from carrel.server import path_link, status
from carrel.server.backup import database
from carrel.server.backup.make import BackupSource, find
from carrel.server.backup.shown import size
from carrel.server.bootstrap.packages import install_line
from carrel.server.claim import claimant
from carrel.server.command import read_run
from carrel.server.remembered import effective_settings
from carrel.server.settings import Settings
from carrel.server.up import consenting, say

_IMAGES = ("localhost/carrel/", "carrel/starter")
_OF_CHECKOUT = (".venv", ".tools", "web/node_modules", "src/carrel/web_dist")
_PACKAGES = ("docker.io", "cgroupfs-mount", "iptables", "mmdebstrap")
_UNIT = Path("/etc/systemd/system/carrel.service")


@dataclass(frozen=True)
class Removable:
    """What there is to remove. label: in the engine; None when nothing there is ours. containers: of sessions, as the
    engine lists them. images: name to bytes. others: where other installations are that may use the images.
    """

    label: str | None
    containers: int
    images: dict[str, int]
    others: list[str]
    folders: list[Path]
    link: Path | None


def uninstall(options: argparse.Namespace) -> int:
    """Remove an installation. Twice: says that there is none. Raises: Conflict, NotFound, Unavailable."""
    installation = find(effective_settings(options).data_dir)
    engine_url = read_run(installation.data_dir)["CARREL_ENGINE_URL"]
    found = _look(
        installation, None if _is_copy(installation) else engine_url, keep_checkout=options.keep_checkout
    )
    # 1. Say what goes and what stays, and ask.
    _announce(found, installation, data=options.data)
    if found.containers and not options.force:
        raise Conflict(
            "setup.sessions_run",
            f"{found.containers} containers of sessions are there; what is not in folders would be lost with them.",
            hint="End the sessions first: carrel session rm ... Or add --force.",
        )
    if not options.yes and not sys.stdin.isatty():
        raise Unavailable(
            "setup.needs_consent",
            "Nothing was removed, since there is no terminal to ask at.",
            hint="Add --yes.",
        )
    if not consenting(options.yes)("remove all of this"):
        say("Nothing was removed.")
        return 1
    # 2. In the order in which each needs the next.
    status.down(options)
    if found.label is not None:
        asyncio.run(
            _clear_engine(installation, engine_url, found.label, () if found.others else found.images)
        )
    if found.link:
        found.link.unlink(missing_ok=True)
    if options.data:
        shutil.rmtree(installation.data_dir)
    else:
        (installation.data_dir / "supervisor.pid").unlink(missing_ok=True)
    for folder in found.folders:
        shutil.rmtree(folder, ignore_errors=True)
    say(
        "Carrel is removed."
        if options.data
        else f"Carrel is removed. Its data stays in {installation.data_dir}."
    )
    return 0


def _is_copy(installation: BackupSource) -> bool:
    """It was copied or restored and never started here: what the engine has under its label is the original's."""
    former = read_run(installation.data_dir).get("CARREL_DATA_DIR", "")
    return Path(former).resolve() != installation.data_dir.resolve()


def _look(installation: BackupSource, engine_url: str | None, *, keep_checkout: bool) -> Removable:
    """engine_url: None when the engine has nothing of ours. Raises: Unavailable."""
    label, containers, images, others = None, 0, dict[str, int](), list[str]()
    try:
        if engine_url is not None:
            label = _label(installation)
            containers, images, others = asyncio.run(_look_in_engine(installation, engine_url, label))
    except ClaimedElsewhere:
        label = None
    except (EngineError, aiodocker.DockerError, OSError) as error:
        raise Unavailable(
            "engine.unreachable",
            f"The container engine at {engine_url} does not answer: {error}",
            hint="Start it first: what Carrel has in it could not be removed otherwise.",
        ) from None
    root = None if keep_checkout else path_link.checkout()
    folders = [root / name for name in _OF_CHECKOUT if (root / name).exists()] if root else []
    return Removable(label, containers, images, others, folders, path_link.existing())


def _label(installation: BackupSource) -> str:
    """Of its containers. An installation that is stopped has its database started to ask."""
    if label := read_run(installation.data_dir).get("CARREL_INSTALLATION"):
        return label
    with (
        database.reachable(installation.embedded),
        psycopg.connect(installation.database_url, connect_timeout=10) as connection,
    ):
        row = connection.execute("SELECT label FROM site").fetchone()
    assert row is not None
    return str(row[0])


def _engine(installation: BackupSource, url: str, label: str) -> DockerEngine:
    settings = Settings(data_dir=installation.data_dir, database_url=installation.database_url)
    return DockerEngine(url, label, claimant=claimant(settings))


async def _look_in_engine(
    installation: BackupSource, url: str, label: str
) -> tuple[int, dict[str, int], list[str]]:
    engine = _engine(installation, url, label)
    try:
        containers, others = len(await engine.list()), await engine.claim.others()
    finally:
        await engine.close()
    async with aiodocker.Docker(url=url) as docker:
        images = {
            tag: int(image["Size"])
            for image in await docker.images.list()
            for tag in image.get("RepoTags") or ()
            if tag.startswith(_IMAGES)
        }
    return containers, images, others


async def _clear_engine(installation: BackupSource, url: str, label: str, images: Iterable[str]) -> None:
    """Delete containers, networks and packet-filter rules, then the images that no other container uses."""
    engine = _engine(installation, url, label)
    try:
        await engine.purge()
    finally:
        await engine.close()
    async with aiodocker.Docker(url=url) as docker:
        for name in images:
            try:
                await docker.images.delete(name)
            except aiodocker.DockerError as error:
                say(f"The image {name} stays: {error.message}")


def _announce(found: Removable, installation: BackupSource, *, data: bool) -> None:
    say("This will be removed:")
    for line in _removed(found):
        say(f"  {line}")
    where = f"{installation.data_dir}  {size(_bytes(installation.data_dir))}: database, key, settings, logs and folders"
    if data:
        say(f"  {where}")
    say("This stays:")
    if not data:
        say(f"  {where} (--data removes it)")
    for line in _kept(found):
        say(f"  {line}")


def _removed(found: Removable) -> Iterator[str]:
    if found.containers:
        yield f"{found.containers} containers of sessions, with all that is not in folders"
    if found.label is not None:
        yield f"the network and the packet-filter rules labelled {found.label} in the container engine"
    if not found.others:
        yield from _images(found)
    yield from (f"{folder}  {size(_bytes(folder))}" for folder in found.folders)
    if found.link:
        yield f"the link {found.link}"


def _images(found: Removable) -> Iterator[str]:
    return (f"the image {name}  {size(count)}" for name, count in sorted(found.images.items()))


def _kept(found: Removable) -> Iterator[str]:
    if found.others:
        users = " and ".join(found.others)
        yield from (f"{line}, which {users} may use" for line in _images(found))
    installed = [name for name in _PACKAGES if _is_installed(name)]
    if installed:
        remove = install_line(installed).replace("install --no-install-recommends", "remove")
        yield f"Debian packages, which other programs may use: {remove}"
    if _UNIT.exists():
        yield f"{_UNIT}, which you wrote: systemctl disable carrel, then delete it"
    yield "what `carrel login` keeps in ~/.config/carrel"


def _is_installed(package: str) -> bool:
    if shutil.which("dpkg-query") is None:
        return False
    command = ["dpkg-query", "--show", "--showformat=${db:Status-Status}", package]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout == "installed"


def _bytes(folder: Path) -> int:
    """What a directory takes on the disk."""
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(where, name)).st_blocks * 512
            except OSError:
                continue
    return total
