"""The programs that make a backup can be interrupted whenever they run."""

import signal
import subprocess
import sys
from pathlib import Path

_MAKE = """
import signal, sys, threading, time
from pathlib import Path
from carrel.server.backup.programs import into_file
from carrel.server.backup.shown import interruptible

threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
try:
    with interruptible():
        into_file(["sh", "-c", "echo begun; exec sleep 60"], Path(sys.argv[1]), name="it",
                  progress=lambda *_: print("begun", flush=True))
except KeyboardInterrupt:
    print("interrupted")
"""


def test_a_signal_that_interrupts_no_system_call_is_noticed(tmp_path: Path) -> None:
    """Another thread takes the signal, as if it had come just before the main thread began to wait."""
    process = subprocess.Popen(
        [sys.executable, "-c", _MAKE, tmp_path / "archive"], stdout=subprocess.PIPE, text=True
    )
    with process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "begun\n"
            process.send_signal(signal.SIGTERM)
            assert process.communicate(timeout=20)[0] == "interrupted\n"
        finally:
            process.kill()
