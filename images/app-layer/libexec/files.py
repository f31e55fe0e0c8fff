"""The file browser (copyparty) of a folder, for the gateway, which alone knows the secret: files.py PORT FOLDER."""

import os
import sys

from copyparty.__main__ import main

# Not as an argument: those are shown in the list of processes.
secret = os.environ.pop("CARREL_APP_SECRET")
port, folder = sys.argv[1:]
main(
    [
        "files",
        *("-i", "0.0.0.0", "-p", port, "-q", "--no-crt", "--http-only"),
        *("-a", f"work:{secret}", "-v", f"{folder}:/:A,work"),
        # Homes are on overlays, which it takes for memory.
        "--wram",
        *("--name", "Files", "--doctitle", "Files", "-nih", "--no-ses", "--no-robots"),
    ]
)
