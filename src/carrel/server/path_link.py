"""`carrel` on the PATH: a symbolic link that `carrel up` offers and `carrel uninstall` removes."""

import os
import shutil
import sys
from pathlib import Path

import carrel
from carrel.server.bootstrap import Consent, Say

_MARKER = "path-asked"
"""Marker in the data directory: the user was asked, whatever the answer."""


def checkout() -> Path | None:
    """The checkout that contains this code; None for an installed package."""
    root = Path(carrel.__file__).resolve().parents[2]
    return root if (root / "tools" / "bootstrap").is_dir() and (root / "carrel").is_file() else None


def program() -> Path:
    """Target of the link: the checkout's script, or the installed command."""
    root = checkout()
    return root / "carrel" if root else Path(sys.executable).with_name("carrel")


def place() -> Path:
    """Directory of the link: /usr/local/bin for root, else ~/.local/bin."""
    folder = Path("/usr/local/bin") if os.geteuid() == 0 else Path.home() / ".local" / "bin"
    return folder / "carrel"


def offer(data_dir: Path, consent: Consent, say: Say) -> None:
    """Create the link with the consent of a user at a terminal. Asks once; never if there is a `carrel` already."""
    marker = data_dir / _MARKER
    if marker.exists() or not _has_terminal() or shutil.which("carrel"):
        return
    link = place()
    if link.is_symlink() or link.exists():
        return
    marker.touch()
    if not consent(f"put `carrel` on the PATH, as the link {link} to {program()}"):
        return
    try:
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(program())
    except OSError as error:
        say(f"{link} could not be made: {error.strerror}. Carrel starts all the same.")
        return
    if str(link.parent) not in os.environ.get("PATH", "").split(os.pathsep):
        say(f"{link} is made. Add {link.parent} to PATH, or log in again.")


def _has_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def existing() -> Path | None:
    """The link to this program; None if there is none or it has another target."""
    link = place()
    return link if link.is_symlink() and link.resolve() == program().resolve() else None
