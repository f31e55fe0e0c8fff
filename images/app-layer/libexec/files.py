"""The file browser (copyparty) of the home, for the gateway, which alone knows the secret."""

import os

from copyparty.__main__ import main

# Not as an argument: those are shown in the list of processes.
secret = os.environ.pop("CARREL_APP_SECRET")
home = os.environ.get("HOME", os.getcwd())
main(
    [
        "files",
        *("-i", "0.0.0.0", "-p", "18890", "-q", "--no-crt", "--http-only"),
        *("-a", f"work:{secret}", "-v", f"{home}:/:A,work"),
        # Homes are on overlays, which it takes for memory.
        "--wram",
        *("--name", "Files", "--doctitle", "Files", "-nih", "--no-ses", "--no-robots"),
    ]
)
