"""Recipes of images: their files, and the version that follows from them."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from carrel.server.bootstrap.authorities import extra_authorities


def read_recipe(name: str) -> dict[str, bytes]:
    """Path in the build context -> content, for every file of the recipe.

    Located in `images/<name>` of a checkout; in a wheel, beside this file.
    """
    here = Path(__file__).parent
    folder = here / "recipes" / name
    if not folder.is_dir():
        folder = here.parents[3] / "images" / name
    # pip compiles every Python file that it installs, including files of the recipe.
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".pyc"]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def build_context(name: str) -> dict[str, bytes]:
    """The recipe with the machine's extra certificate authorities."""
    return {**read_recipe(name), **{f"ca/{name}": pem for name, pem in extra_authorities().items()}}


def fingerprint(context: Mapping[str, bytes], sources: Mapping[str, str]) -> str:
    """The version of what is built from this context, with packages from these sources."""
    digest = hashlib.sha256()
    for name, content in sorted(context.items()):
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    for name, value in sorted(sources.items()):
        digest.update(f"{name}={value}\0".encode())
    return digest.hexdigest()[:12]
