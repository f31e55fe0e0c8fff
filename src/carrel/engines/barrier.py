"""The start barrier of containers that begin together: their main processes wait until the control plane opens it.

    ensure main1   ensure sub1   ensure sub2      every container runs, and every host name resolves
          send OPEN to main1, sub1, sub2          their commands begin

A main process waits for a line on its standard input, so the containers need `ContainerSpec.stdin`. A restarted
container waits again: its input is new, and the mark of an open or closed barrier is in shared memory, which is empty
after a start.
"""

_MARK = "/dev/shm/carrel-barrier"
PREPARE = "/etc/carrel/prepare.sh"
"""A file that a container may have, which its shell reads before it waits."""

_TAKE = f"(set -C; : > {_MARK}) 2>/dev/null"
"""Succeeds once, whoever is first."""

_WAIT = f"""trap 'exit 143' TERM INT HUP QUIT USR1 USR2
if [ -r {PREPARE} ]; then . {PREPARE} </dev/null; fi
read -r line
{_TAKE} || exit 143
trap - TERM INT HUP QUIT USR1 USR2
exec "$@" </dev/null
"""
_PREFIX = ("/bin/sh", "-c", _WAIT, "carrel")

OPEN = b"\n"
"""What opens the barrier, sent to the container. Twice: no-op."""


CLOSE = ("/bin/sh", "-c", _TAKE)
"""The process that ends with 0 if the command has not begun and from now on never will."""


def behind(command: tuple[str, ...]) -> tuple[str, ...]:
    """A main process that becomes the command once the barrier of its container is open."""
    return (*_PREFIX, *command)


def waiting(command: tuple[str, ...]) -> tuple[str, ...] | None:
    """The command that a main process of `behind` becomes; None for others."""
    return command[len(_PREFIX) :] if command[: len(_PREFIX)] == _PREFIX else None
