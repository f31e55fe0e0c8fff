"""Which code runs: a fingerprint of the sources, the page, the recipes of images, and the locked dependencies."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_CHECKOUT = _PACKAGE.parents[1]


def parts() -> Sequence[Path]:
    """The server, the client that it uses, and in a checkout what is beside them."""
    client = find_spec("carrel_client")
    folders = client.submodule_search_locations if client else None
    return (_PACKAGE, *map(Path, folders or ()), _CHECKOUT / "images", _CHECKOUT / "uv.lock")


def fingerprint(of: Sequence[Path] | None = None) -> str:
    """Changes with every file of these parts, by default of the installed code; takes about 0.1 s."""
    digest = hashlib.sha256()
    for part in parts() if of is None else of:
        for path in _files(part):
            digest.update(
                f"{os.path.relpath(path, part)}\0".encode() + hashlib.sha256(path.read_bytes()).digest()
            )
    return digest.hexdigest()


def _files(part: Path) -> Iterator[Path]:
    if part.is_file():
        yield part
    for folder, folders, files in os.walk(part):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        if os.path.basename(folder) == "web_dist":
            # It names all other files of the page, whose names change with their content.
            folders[:], files = [], ["index.html"]
        paths = (Path(folder, name) for name in sorted(files) if not name.endswith(".pyc"))
        yield from (path for path in paths if path.is_file())
