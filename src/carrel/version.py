"""Which version runs: the release, and in a checkout the revision of the code too."""

import subprocess
from functools import cache
from pathlib import Path

from carrel import __version__

_CHECKOUT = Path(__file__).resolve().parents[2]


@cache
def full() -> str:
    """Such as 0.5.0, or in a checkout 0.5.0+g1a2b3c4: as the code was when this was first asked."""
    revision = _revision()
    return f"{__version__}+g{revision}" if revision else __version__


def _revision() -> str:
    if not (_CHECKOUT / ".git").exists():
        return ""
    try:
        done = subprocess.run(
            ["git", "-C", str(_CHECKOUT), "rev-parse", "--short", "HEAD"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()
