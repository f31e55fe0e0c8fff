"""The image of the control plane, made of the checkout by its own recipe."""

import subprocess
import sys
from functools import cache
from pathlib import Path

_BUILD = Path(__file__).parents[2] / "deploy/image/build.py"
REFERENCE = "localhost/carrel/carrel:under-test"
NEXT_REFERENCE = "localhost/carrel/carrel:next-under-test"
"""Another name of the same image, for upgrades."""


@cache
def control_plane_image() -> str:
    """The reference in the machine's Docker. The first build takes minutes; Docker keeps the layers of packages."""
    done = subprocess.run(
        [sys.executable, str(_BUILD), REFERENCE], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
    subprocess.run(["docker", "tag", REFERENCE, NEXT_REFERENCE], check=True)
    return REFERENCE
