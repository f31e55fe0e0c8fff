"""What `carrel up` sets up on this machine before it serves: a container engine and the starter image.

Each step looks first and does nothing when all is there, asks before it installs anything, and may be
interrupted at any moment: the next start carries on. What does not belong here: anything the server needs
while it runs.
"""

from collections.abc import Callable

Consent = Callable[[str], bool]
"""Asks the person whether to do one thing, such as "install docker.io by apt"; False means no."""

Say = Callable[[str], None]
"""Shows one line of progress."""
