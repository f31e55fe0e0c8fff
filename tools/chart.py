"""Write the generated files of the Helm chart: README.md and files/rights.yaml; with --check, fail when they differ.

python tools/chart.py            write them
python tools/chart.py --check    exit code 1 if one is out of date
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
CHART = ROOT / "deploy/helm/carrel"
_MARK = "# -- "
_HEAD = """# Helm chart of Carrel

Runs the control plane in a cluster, two copies of each role, with sessions as pods of that cluster. How to install it:
[docs/howto/kubernetes-install.md](../../../docs/howto/kubernetes-install.md).

## Values

Written by `tools/chart.py` from `values.yaml`; `values.schema.json` checks them.

| value | default | meaning |
| --- | --- | --- |
"""


def main(arguments: list[str]) -> int:
    table = "".join(f"{row}\n" for row in rows((CHART / "values.yaml").read_text()))
    rendered = {
        CHART / "README.md": _HEAD + table,
        # What Kubernetes lets the engine do, wherever it runs.
        CHART / "files/rights.yaml": (ROOT / "src/carrel/engines/kubernetes/rights.yaml").read_text(),
    }
    stale = [path for path, content in rendered.items() if not path.exists() or path.read_text() != content]
    if arguments == ["--check"]:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is out of date: run tools/chart.py", file=sys.stderr)
        return 1 if stale else 0
    for path in stale:
        path.write_text(rendered[path])
    return 0


def rows(text: str) -> Iterator[str]:
    """A row for each value that has a description."""
    values = yaml.safe_load(text)
    path: list[tuple[int, str]] = []
    description = ""
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith(_MARK):
            description = stripped.removeprefix(_MARK)
        elif stripped.startswith("#"):
            description += stripped.removeprefix("#") if description else ""
        elif match := re.match(r"( *)(\w+):", line):
            indent = len(match[1])
            path = [part for part in path if part[0] < indent] + [(indent, match[2])]
            if description:
                names = [name for _, name in path]
                yield f"| `{'.'.join(names)}` | {_default(values, names)} | {description} |"
            description = ""


def _default(values: object, names: list[str]) -> str:
    for name in names:
        assert isinstance(values, dict)
        values = values[name]
    return f"`{json.dumps(values)}`"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
