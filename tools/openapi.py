"""Write openapi.json from the routes; with --check, fail when the committed one differs."""

import json
import sys
from pathlib import Path

from carrel.server.compose import application

TARGET = Path(__file__).parent.parent / "openapi.json"


def main(arguments: list[str]) -> int:
    fresh = json.dumps(application().openapi(), indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    if arguments == ["--check"]:
        if TARGET.read_text() != fresh:
            print("openapi.json is out of date: run .venv/bin/python tools/openapi.py", file=sys.stderr)
            return 1
        return 0
    TARGET.write_text(fresh)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
