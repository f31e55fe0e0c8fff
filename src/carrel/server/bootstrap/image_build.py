"""Build an image from a recipe in an engine, on a Debian base from a registry or made from packages."""

import asyncio
import io
import os
import tarfile
import tempfile
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from carrel.core.errors import Unavailable
from carrel.engines.optional import BuildOutput, ImageBuilding
from carrel.engines.port import EngineError, ImageUnusable, Progress
from carrel.server.bootstrap import Consent, Say, debian
from carrel.server.bootstrap.progress import ProgressLines, progress

_REGISTRY_BASE = f"debian:{debian.RELEASE}-slim"
_OWN_BASE = "localhost/carrel/debian"
_FORMER_OWN_BASE = "carrel/debian"
_MIRROR = "http://deb.debian.org/debian"
PUBLIC_INDEX = "https://pypi.org/simple"
_REGISTRY_ANSWERS_S = 25.0
_PROXY_VARIABLES = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")


def mirrors(say: Say) -> dict[str, str]:
    """Build arguments that name the sources of packages."""
    return {"DEBIAN_MIRROR": _mirror(), "PYPI_INDEX": python_index(say)}


async def has_image(engine: ImageBuilding, repository: str, tag: str, *, formerly: str) -> bool:
    """True if the engine has the image; an image under its former name is tagged with the current one."""
    if await _is_present(engine, f"{repository}:{tag}"):
        return True
    if not await _is_present(engine, f"{formerly}:{tag}"):
        return False
    await engine.tag_image(f"{formerly}:{tag}", f"{repository}:{tag}")
    return True


async def build(
    engine: ImageBuilding,
    context: Mapping[str, bytes],
    reference: str,
    arguments: Mapping[str, str],
    *,
    title: str,
    say: Say,
    consent: Consent,
) -> None:
    """Build and tag an image. context: path -> content; its Dockerfile has the argument BASE. title: of progress lines.

    Interrupted: the engine has cached the finished steps and the next build continues.
    Raises: EngineError, and Unavailable with cause and remedy.
    """
    async with progress(say, title) as shown:
        base = await _ensure_base(engine, shown, consent=consent, say=say)
        with io.BytesIO(_archive(context)) as archive:
            everything = {**arguments, **proxies(), "BASE": base}
            await _build(engine, archive, reference, everything, shown, titles=step_titles(context))


def step_titles(context: Mapping[str, bytes]) -> list[str]:
    """A title for each instruction of the Dockerfile: the first comment line above it, else empty."""
    titles: list[str] = []
    comment = ""
    continued = False
    for line in context["Dockerfile"].decode().splitlines():
        if continued:
            # A comment between two lines of an instruction does not end it.
            continued = line.endswith("\\") or line.lstrip().startswith("#")
        elif line.startswith("#"):
            comment = comment or line.removeprefix("#").strip()
        elif line:
            titles.append(comment)
            comment = ""
            continued = line.endswith("\\")
        else:
            comment = ""
    return titles


async def _ensure_base(engine: ImageBuilding, shown: ProgressLines, *, consent: Consent, say: Say) -> str:
    """The reference of a minimal Debian image in the engine: Debian's own, or one built from packages."""
    own = f"{_OWN_BASE}:{debian.RELEASE}"
    if await _is_present(engine, _REGISTRY_BASE):
        return _REGISTRY_BASE
    if await has_image(engine, _OWN_BASE, debian.RELEASE, formerly=_FORMER_OWN_BASE):
        return own
    if await _pulled(engine, _REGISTRY_BASE, shown):
        return _REGISTRY_BASE
    await asyncio.to_thread(debian.install_tools, consent=consent, say=say)
    with tempfile.TemporaryFile(prefix="carrel-base-") as context:
        await debian.write_build_context(context, mirror=_mirror(), shown=shown)
        shown.show("giving it to the engine")
        await _build(engine, context, own, {}, shown, titles=["", "", ""])
    return own


async def _pulled(engine: ImageBuilding, reference: str, shown: ProgressLines) -> bool:
    """Pull the image; False if no registry responds within a short time or it does not exist."""
    shown.show(f"asking the registry for {reference}")
    try:
        async with asyncio.timeout(_REGISTRY_ANSWERS_S) as limit:

            def answers(_: Progress) -> None:
                limit.reschedule(None)
                shown.show(f"pulling {reference}")

            await engine.pull_image(reference, answers)
    except (EngineError, TimeoutError):
        shown.show("no registry answers")
        return False
    return True


async def _is_present(engine: ImageBuilding, reference: str) -> bool:
    try:
        await engine.image(reference)
    except ImageUnusable:
        return False
    return True


async def _build(
    engine: ImageBuilding,
    archive: IO[bytes],
    reference: str,
    arguments: Mapping[str, str],
    shown: ProgressLines,
    *,
    titles: list[str],
) -> None:
    """Build the image. Raises: Unavailable with the end of the build output."""
    lines: deque[str] = deque(maxlen=4)

    def note(line: BuildOutput) -> None:
        if line.step:
            _show_step(shown, line.step, line.steps, titles)
        else:
            lines.append(line.text)

    try:
        await engine.build_image(archive, reference, arguments=arguments, output=note)
    except EngineError as error:
        raise Unavailable(
            "starter.build_failed",
            error.message,
            hint="Last output: " + " / ".join(lines) if lines else "Run the command again.",
        ) from error


def _show_step(shown: ProgressLines, number: int, total: int, titles: list[str]) -> None:
    """Show a build step. Steps without a title are fast and not shown; engines may number steps differently."""
    title = titles[number - 1] if len(titles) == total else "working"
    if title:
        shown.show(f"{title} (step {number} of {total})")


def _archive(context: Mapping[str, bytes]) -> bytes:
    """A tar of the context without times and owners, so that the engine's build cache works."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        parents = {str(parent) for name in context for parent in Path(name).parents}
        for folder in sorted({"ca"} | parents - {"."}):
            entry = tarfile.TarInfo(folder)
            entry.type = tarfile.DIRTYPE
            entry.mode = 0o755
            archive.addfile(entry)
        for name, content in sorted(context.items()):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            entry.mode = 0o644
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def _mirror() -> str:
    return os.environ.get("CARREL_DEBIAN_MIRROR", _MIRROR).rstrip("/")


def python_index(say: Say) -> str:
    """The Python index of this machine; one with a password is omitted, since images store build arguments."""
    for name in ("UV_DEFAULT_INDEX", "PIP_INDEX_URL"):
        url = os.environ.get(name)
        if url and "@" in url:
            say(f"{name} holds a password, so the starter image is made from {PUBLIC_INDEX}")
        elif url:
            return url.rstrip("/")
    return PUBLIC_INDEX


def proxies() -> dict[str, str]:
    """Build arguments that every builder knows."""
    return {name: os.environ[name] for name in _PROXY_VARIABLES if name in os.environ}
