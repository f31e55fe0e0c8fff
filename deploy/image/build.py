"""Build the image of the control plane from this checkout, with or without an image registry.

    .venv/bin/python deploy/image/build.py                               localhost/carrel/carrel:VERSION
    .venv/bin/python deploy/image/build.py registry.example.org/carrel:1 another name, to push
    .venv/bin/python deploy/image/build.py --context DIRECTORY           only what another builder needs

Needs what `./carrel up` installs: the checkout's environment, the built page and a container engine. Like the starter
image, it is based on Debian's own image if a registry answers, else on one made from packages, and it trusts the
certificate authorities that this machine trusts.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import carrel
from carrel.core.errors import CarrelError
from carrel.engines.docker import DockerEngine
from carrel.engines.port import EngineError
from carrel.server.bootstrap import image_build
from carrel.server.bootstrap.authorities import extra_authorities

ROOT = Path(__file__).resolve().parents[2]
RECIPE = Path(__file__).parent
_FILES = ("Dockerfile", "carrel-postgres", "carrel-probe")


def main(arguments: list[str]) -> int:
    try:
        if arguments[:1] == ["--context"]:
            _write(_context(), Path(arguments[1]))
            return 0
        reference = arguments[0] if arguments else f"localhost/carrel/carrel:{carrel.__version__}"
        url = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
        size_bytes = asyncio.run(_build(reference, url))
    except (CarrelError, EngineError) as error:
        print(f"error: {error}\nhint: {getattr(error, 'hint', '')}", file=sys.stderr)
        return 1
    print(f"{reference}  {size_bytes / 1e6:.0f} MB")
    return 0


async def _build(reference: str, url: str) -> int:
    """Returns the image's size in bytes. Raises: EngineError, Unavailable."""
    engine = DockerEngine(url, "image-build")
    try:
        context = await asyncio.to_thread(_context)
        sources = image_build.mirrors(print)
        await image_build.build(
            engine, context, reference, sources, title="carrel image", say=print, consent=lambda _: False
        )
        return (await engine.image(reference)).size_bytes or 0
    finally:
        await engine.close()


def _write(context: dict[str, bytes], folder: Path) -> None:
    for name, content in context.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _context() -> dict[str, bytes]:
    """Path in the build context -> content."""
    context = {name: (RECIPE / name).read_bytes() for name in _FILES}
    context |= {f"ca/{name}": pem for name, pem in extra_authorities().items()}
    with tempfile.TemporaryDirectory(prefix="carrel-image-") as folder:
        print("carrel image: building the wheel", flush=True)
        _run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, str(ROOT))
        [wheel] = Path(folder).glob("*.whl")
        context[wheel.name] = wheel.read_bytes()
    context["requirements.txt"] = _run(*_uv(), "export", *_EXPORT, "--directory", str(ROOT))
    return context


_EXPORT = ("--frozen", "--no-dev", "--no-emit-project", "--no-header", "--no-annotate", "-q")


def _uv() -> list[str]:
    """The uv of the checkout."""
    return [str(next((ROOT / ".tools").glob("uv-*/*.data/scripts/uv")))]


def _run(*command: str) -> bytes:
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        raise EngineError(
            f"{' '.join(command)}:\n{done.stderr.decode(errors='replace')[-2000:]}", retriable=False
        )
    return done.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
