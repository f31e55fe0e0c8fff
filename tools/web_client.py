"""Write the page's API client from openapi.json; with --check, fail when the committed one differs.

    python tools/web_client.py            write web/src/api/generated
    python tools/web_client.py --check    exit code 1 if it is out of date

Needs npm on PATH and the packages in web/node_modules; `./carrel test` provides both.
"""

import argparse
import filecmp
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

WEB = Path(__file__).resolve().parents[1] / "web"
COMMITTED = WEB / "src" / "api" / "generated"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    if not parser.parse_args().check:
        generate(COMMITTED)
        return 0
    with tempfile.TemporaryDirectory(prefix="carrel-web-client-") as folder:
        fresh = Path(folder) / "generated"
        generate(fresh)
        changed = sorted(differences(filecmp.dircmp(COMMITTED, fresh)))
    for name in changed:
        print(f"web/src/api/generated/{name} is not what openapi.json gives")
    if changed:
        print("Run: python tools/web_client.py")
    return 1 if changed else 0


def generate(target: Path) -> None:
    command = ["npm", "run", "--silent", "generate", "--", "--output", str(target), "--silent"]
    subprocess.run(command, cwd=WEB, stdin=subprocess.DEVNULL, check=True)


def differences(compared: "filecmp.dircmp[str]", folder: str = "") -> Iterator[str]:
    """Files on one side only, and files whose content differs (not by size and time, which are unreliable)."""
    for name in [*compared.left_only, *compared.right_only]:
        yield folder + name
    _, differing, unreadable = filecmp.cmpfiles(
        compared.left, compared.right, compared.common_files, shallow=False
    )
    for name in [*differing, *unreadable]:
        yield folder + name
    for name, inner in compared.subdirs.items():
        yield from differences(inner, f"{folder}{name}/")


if __name__ == "__main__":
    sys.exit(main())
