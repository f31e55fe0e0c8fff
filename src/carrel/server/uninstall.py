"""`carrel uninstall`: lists and removes what `carrel up` created on this machine; data only on request."""

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from carrel.core.errors import Conflict, Unavailable
from carrel.engines.context import Claimable, Purging
from carrel.engines.optional import Committing, ImageBuilding, LayerMounting
from carrel.engines.port import ClaimedElsewhere, Engine, EngineError
from carrel.server import engine_cleanup, engines, path_link, running
from carrel.server.backup import database_dump
from carrel.server.backup.create import BackupSource, find
from carrel.server.backup.shown import size
from carrel.server.bootstrap.layer_recipe import REPOSITORY
from carrel.server.bootstrap.packages import install_line
from carrel.server.console import say
from carrel.server.engines import InstalledEngine
from carrel.server.remembered import effective_settings
from carrel.server.run_file import read_run
from carrel.server.up import consenting
from carrel.tables.environments import REPOSITORY as ENVIRONMENTS

_IMAGES = ("localhost/carrel/", "carrel/starter")
_OF_CHECKOUT = (".venv", ".tools", "web/node_modules", "src/carrel/web_dist")
_PACKAGES = ("docker.io", "cgroupfs-mount", "iptables", "mmdebstrap")
_CLEAR_S = 300.0
_UNIT = Path("/etc/systemd/system/carrel.service")


@dataclass(frozen=True)
class EngineContents:
    """The installation's objects in an engine. containers: of sessions, as listed by the engine. images: name -> bytes.
    environments: number of images of these, which are data and not among the former. others: locations of other
    installations that may use the images.
    """

    containers: int
    images: dict[str, int]
    environments: int
    others: list[str]


@dataclass(frozen=True)
class Removable:
    """Everything that can be removed. silent: engines that do not respond, with the reason."""

    engines: dict[InstalledEngine, EngineContents]
    silent: dict[InstalledEngine, str]
    folders: list[Path]
    link: Path | None

    @property
    def containers(self) -> int:
        return sum(contents.containers for contents in self.engines.values())


def uninstall(options: argparse.Namespace) -> int:
    """Remove an installation. Twice: reports that there is none. Raises: Conflict, NotFound, Unavailable."""
    installation = find(effective_settings(options).data_dir)
    removable = _look(options, installation)
    # 1. List what is removed and what is kept, and ask.
    _announce(removable, installation, data=options.data)
    if removable.containers and not options.force:
        raise Conflict(
            "setup.sessions_run",
            f"{_containers(removable.containers)} would be removed, with everything outside folders.",
            hint="End the sessions first: carrel session rm ... Or add --force.",
        )
    if not options.yes and not sys.stdin.isatty():
        raise Unavailable(
            "setup.needs_consent",
            "Nothing was removed: there is no terminal for the confirmation.",
            hint="Add --yes.",
        )
    if not consenting(options.yes)("remove all of this"):
        say("Nothing was removed.")
        return 1
    # 2. Remove dependents first.
    running.stop(engine_cleanup.settings_of_last_start(options))
    for engine, contents in removable.engines.items():
        _clear(engine, None if contents.others else contents.images, environments=options.data)
    if removable.link:
        removable.link.unlink(missing_ok=True)
    if options.data:
        shutil.rmtree(installation.data_dir)
    else:
        (installation.data_dir / "supervisor.pid").unlink(missing_ok=True)
    for folder in removable.folders:
        shutil.rmtree(folder, ignore_errors=True)
    say(
        "Carrel is removed."
        if options.data
        else f"Carrel is removed. Its data stays in {installation.data_dir}."
    )
    return 0


def _is_copy(installation: BackupSource) -> bool:
    """True if it was copied or restored and never started here: the objects under its label belong to the original."""
    former = read_run(installation.data_dir).get("CARREL_DATA_DIR", "")
    return Path(former).resolve() != installation.data_dir.resolve()


def _look(options: argparse.Namespace, installation: BackupSource) -> Removable:
    """Collect everything that can be removed. Raises: Unavailable."""
    known = [] if _is_copy(installation) else asyncio.run(_installed(options, installation))
    ours: dict[InstalledEngine, EngineContents] = {}
    silent: dict[InstalledEngine, str] = {}
    for engine, contents in asyncio.run(engines.ask_each(known, _contents)):
        if isinstance(contents, EngineContents):
            ours[engine] = contents
        elif engine.is_local and not isinstance(contents, ClaimedElsewhere):
            raise Unavailable(
                "engine.unreachable",
                contents.message,
                hint="Start it first, so that Carrel's containers and images in it can be removed.",
            )
        elif not isinstance(contents, ClaimedElsewhere):
            silent[engine] = contents.message
    root = None if options.keep_checkout else path_link.checkout()
    folders = [root / name for name in _OF_CHECKOUT if (root / name).exists()] if root else []
    return Removable(ours, silent, folders, path_link.existing())


async def _installed(options: argparse.Namespace, installation: BackupSource) -> list[InstalledEngine]:
    """The engines; starts the database of a stopped installation to read them. Raises: Unavailable."""
    settings = engine_cleanup.settings_of_last_start(options)
    settings = settings.model_copy(update={"database_url": installation.database_url})
    with database_dump.reachable(installation.embedded):
        return await engine_cleanup.installed(settings)


async def _contents(engine: Engine) -> EngineContents:
    images = await engine.images() if isinstance(engine, ImageBuilding) else ()
    return EngineContents(
        len(await engine.list()),
        {
            name: image.size_bytes
            for image in images
            for name in image.references
            if name.startswith(_IMAGES) and not name.startswith(f"{ENVIRONMENTS}/")
        },
        len(await engine.commits()) if isinstance(engine, Committing) else 0,
        sorted(set(await engine.claim.others())) if isinstance(engine, Claimable) else [],
    )


def _clear(engine: InstalledEngine, images: Iterable[str] | None, *, environments: bool) -> None:
    """Delete containers, networks and packet-filter rules, then app layers and the images that no other container uses;
    None: neither, since other installations may use them. environments: also images of environments.

    Raises: Unavailable for the local engine; failures of other engines are printed.
    """
    try:
        asyncio.run(
            engine.ask(partial(_clear_engine, images=images, environments=environments), within_s=_CLEAR_S)
        )
    except EngineError as error:
        if engine.is_local:
            raise Unavailable("engine.unreachable", error.message, hint="Start it, then try again.") from None
        say(f"{engine.name}: what is labelled {engine.label} stays: {error.message}")


async def _clear_engine(engine: Engine, *, images: Iterable[str] | None, environments: bool) -> None:
    if environments and isinstance(engine, Committing):
        # While the label is still claimed, but after the containers that use them.
        for container in await engine.list():
            await engine.remove(container.id, grace_s=0)
        for key in await engine.commits():
            try:
                await engine.discard_commit(key)
            except EngineError as error:
                say(f"An image of an environment stays: {error.message}")
    if isinstance(engine, Purging):
        await engine.purge()
    else:
        for container in await engine.list():
            await engine.remove(container.id, grace_s=0)
    if images is not None and isinstance(engine, LayerMounting):
        await engine.remove_layers(REPOSITORY)
    for name in images or ():
        assert isinstance(engine, ImageBuilding)
        try:
            await engine.remove_image(name)
        except EngineError as error:
            say(f"The image {name} stays: {error.message}")


def _announce(removable: Removable, installation: BackupSource, *, data: bool) -> None:
    say("This will be removed:")
    for line in _removed(removable):
        say(f"  {line}")
    where = f"{installation.data_dir}  {size(_bytes(installation.data_dir))}: database, key, settings, logs and folders"
    environments = [
        f"{_counted(contents.environments, 'image')} of environments in {_place(engine)}"
        for engine, contents in removable.engines.items()
        if contents.environments
    ]
    for line in (where, *environments) if data else ():
        say(f"  {line}")
    say("This stays:")
    for line in () if data else (where, *environments):
        say(f"  {line} (--data removes it)")
    for line in _kept(removable):
        say(f"  {line}")


def _removed(removable: Removable) -> Iterator[str]:
    for engine, contents in removable.engines.items():
        if contents.containers:
            yield f"{_containers(contents.containers)} in {_place(engine)}, with everything that is not in folders"
        yield f"the network and the packet-filter rules labelled {engine.label} in {_place(engine)}"
        if not contents.others:
            yield from _images(engine, contents)
            if any(name.startswith(f"{REPOSITORY}:") for name in contents.images):
                yield f"the volume with the app layer in {_place(engine)}"
    yield from (f"{folder}  {size(_bytes(folder))}" for folder in removable.folders)
    if removable.link:
        yield f"the link {removable.link}"


def _containers(count: int) -> str:
    return _counted(count, "session container")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _place(engine: InstalledEngine) -> str:
    return "the container engine" if engine.is_local else f"the engine {engine.name}"


def _images(engine: InstalledEngine, contents: EngineContents) -> Iterator[str]:
    where = "" if engine.is_local else f" in {_place(engine)}"
    return (f"the image {name}{where}  {size(count)}" for name, count in sorted(contents.images.items()))


def _kept(removable: Removable) -> Iterator[str]:
    for engine, contents in removable.engines.items():
        if contents.others:
            users = " and ".join(contents.others)
            yield from (f"{line}, which {users} may use" for line in _images(engine, contents))
    for engine, reason in removable.silent.items():
        yield (
            f"whatever is labelled {engine.label} in {_place(engine)} ({_containers(engine.containers)}, "
            f"network, packet-filter rules), and images of Carrel there: {reason}"
        )
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
    """Disk usage of a directory in bytes."""
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(where, name)).st_blocks * 512
            except OSError:
                continue
    return total
