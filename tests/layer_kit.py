"""Layers of images, made of what tests say."""

import gzip
import io
import tarfile
from collections.abc import Mapping


def layer(files: Mapping[str, str]) -> bytes:
    """A compressed layer with these files."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path, text in files.items():
            content = text.encode()
            member = tarfile.TarInfo(path)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return gzip.compress(written.getvalue(), mtime=0)


def dpkg(**versions: str) -> str:
    """A database of dpkg; _ in names stands for -."""
    status = "Status: install ok installed\nDescription: x\n y: z"
    return "".join(
        f"Package: {name.replace('_', '-')}\n{status}\nVersion: {version}\n\n"
        for name, version in versions.items()
    )


def metadata(name: str, version: str) -> dict[str, str]:
    """The metadata of a Python package by its path."""
    path = f"usr/lib/python3/site-packages/{name}-{version}.dist-info/METADATA"
    return {path: f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nVersion: 9"}
