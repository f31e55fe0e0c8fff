"""A PostgreSQL server that ends as in a power cut."""

import signal
from contextlib import suppress
from pathlib import Path

import psutil


def kill_postgresql(cluster: Path) -> None:
    """All its processes at once, so that none can end in order because another is gone.

    cluster: its data directory.
    Raises: OSError, ValueError, IndexError or psutil.NoSuchProcess if no server runs.
    """
    postmaster = psutil.Process(int((cluster / "postmaster.pid").read_text().split()[0]))
    # It starts no other process meanwhile.
    postmaster.send_signal(signal.SIGSTOP)
    everybody = [postmaster, *postmaster.children()]
    for process in reversed(everybody):
        with suppress(psutil.NoSuchProcess):
            process.send_signal(signal.SIGKILL)
    psutil.wait_procs(everybody, timeout=10)
