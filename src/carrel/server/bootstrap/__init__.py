"""The prerequisites that `carrel up` sets up on this machine: a container engine and the starter image.

Each step is a no-op if nothing is missing, asks before it installs anything, and can be interrupted at any time: the
next start continues. Out of scope: anything that the running server needs.
"""

from collections.abc import Callable

Consent = Callable[[str], bool]
"""Asks the user for consent to one action, such as "install docker.io by apt"; False means no."""

Say = Callable[[str], None]
"""Shows one line of progress."""
