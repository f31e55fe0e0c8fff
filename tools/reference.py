"""Write what the docs and the page know of operations and actions; with --check, fail when they differ.

python tools/reference.py            write the tables of docs/reference/{api,permissions}.md,
                                     docs/reference/seccomp.json and web/src/api/actions.ts
python tools/reference.py --check    exit code 1 when those files are not what would be written
"""

import json
import sys
from pathlib import Path

from carrel.engines.docker import seccomp
from carrel.policy.actions import ACTIONS, Action, Role, Scope

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- written by tools/reference.py -->", "<!-- end -->"
_REACH = {
    Scope.NONE: "",
    Scope.OWN: "own",
    Scope.PROJECT: "their projects",
    Scope.DOMAIN: "their domain",
    Scope.ALL: "everything",
}
_ROLES = (Role.USER, Role.PROJECT_ADMIN, Role.DOMAIN_ADMIN, Role.SUPERADMIN)


def main(arguments: list[str]) -> int:
    api, permissions = ROOT / "docs/reference/api.md", ROOT / "docs/reference/permissions.md"
    document = json.loads((ROOT / "openapi.json").read_text())
    wanted = {
        api: between(api.read_text(), operations(document)),
        permissions: between(permissions.read_text(), actions()),
        ROOT / "web/src/api/actions.ts": typescript(),
        ROOT / "docs/reference/seccomp.json": json.dumps(json.loads(seccomp.profile()), indent=1) + "\n",
    }
    stale = [path for path, content in wanted.items() if not path.exists() or path.read_text() != content]
    if arguments == ["--check"]:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is out of date: run tools/reference.py", file=sys.stderr)
        return 1 if stale else 0
    for path in stale:
        path.write_text(wanted[path])
    return 0


def between(text: str, table: str) -> str:
    """The text with what stands between its marks replaced."""
    head, rest = text.split(BEGIN)
    return f"{head}{BEGIN}\n\n{table}\n{END}{rest.split(END)[1]}"


def operations(document: dict[str, dict[str, dict[str, dict[str, object]]]]) -> str:
    rows = ["| operation | | path | action | what it does |", "| --- | --- | --- | --- | --- |"]
    found = [
        (str(operation["operationId"]), method.upper(), path.removeprefix("/api/v1"), operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    for name, method, path, operation in sorted(found, key=lambda each: each[0]):
        sentence = " ".join(str(operation["description"]).split("\n\n")[0].split())
        rows.append(f"| `{name}` | {method} | `{path}` | `{operation['x-carrel-action']}` | {sentence} |")
    return "\n".join(rows) + "\n"


def actions() -> str:
    rows = [
        "| action | | user | project admin | domain admin | superadmin |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    rows += [
        f"| `{action.name}` | {action.sentence} | "
        + " | ".join("everybody" if action.public else _REACH[action.scope(role)] for role in _ROLES)
        + " |"
        for action in ACTIONS.values()
    ]
    return "\n".join(rows) + "\n"


def typescript() -> str:
    """The table for the page: who reaches what, and the sentence for people."""
    lines = "".join(_line(action) for action in ACTIONS.values())
    return f"""// Written by tools/reference.py from the one table of actions.

export type Reach = "none" | "own" | "project" | "domain" | "all";

export interface Action {{
  sentence: string;
  user: Reach;
  projectAdmin: Reach;
  domainAdmin: Reach;
  superadmin: Reach;
}}

export const ACTIONS = {{
{lines}}} as const satisfies Record<string, Action>;

export type ActionName = keyof typeof ACTIONS;
"""


def _line(action: Action) -> str:
    reach = [action.scope(role).name.lower() for role in _ROLES]
    return (
        f'  "{action.name}": {{\n    sentence: {json.dumps(action.sentence)},\n    user: "{reach[0]}",\n'
        f'    projectAdmin: "{reach[1]}",\n    domainAdmin: "{reach[2]}",\n    superadmin: "{reach[3]}",\n  }},\n'
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
