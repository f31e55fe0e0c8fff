"""The start barrier of containers that begin together: their main processes wait until the control plane opens it.

    ensure main1   ensure sub1   ensure sub2      every container runs, and every host name resolves
              open in main1, sub1, sub2           their commands begin

A restarted container waits again: the mark of an open barrier is in shared memory, which is empty after a start.
"""

_MARK = "/dev/shm/carrel-open"
PREPARE = "/etc/carrel/prepare.sh"
"""A file that a container may have, which its shell reads before it waits."""

_WAIT = f"""trap 'exit 143' TERM INT HUP QUIT USR1 USR2
if [ -r {PREPARE} ]; then . {PREPARE}; fi
until [ -e {_MARK} ]; do sleep 0.2 || sleep 1; done
trap - TERM INT HUP QUIT USR1 USR2
exec "$@"
"""
_PREFIX = ("/bin/sh", "-c", _WAIT, "carrel")

OPEN = ("/bin/sh", "-c", f": > {_MARK}")
"""The process that opens the barrier of its container. Twice: no-op."""


IS_OPEN = ("/bin/sh", "-c", f"[ -e {_MARK} ]")
"""The process that ends with 0 if the barrier of its container is open."""


def behind(command: tuple[str, ...]) -> tuple[str, ...]:
    """A main process that becomes the command once the barrier of its container is open."""
    return (*_PREFIX, *command)


def waiting(command: tuple[str, ...]) -> tuple[str, ...] | None:
    """The command that a main process of `behind` becomes; None for others."""
    return command[len(_PREFIX) :] if command[: len(_PREFIX)] == _PREFIX else None
