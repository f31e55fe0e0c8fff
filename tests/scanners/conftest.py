"""The scanners are built like the programs of a cluster."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "cluster"))
