"""Write the tables of operations, actions and the SDK in the docs and the page; with --check, fail when they differ.

python tools/reference.py            write the tables of docs/reference/{api,permissions,sdk,session-states}.md,
                                     docs/reference/seccomp.json and web/src/api/actions.ts
python tools/reference.py --check    exit code 1 if those files are out of date
"""

import inspect
import json
import sys
from pathlib import Path
from types import FunctionType

import carrel_client

from carrel.engines.docker import seccomp
from carrel.permissions.actions import ACTIONS, Action, Role, Scope
from carrel.tables.session_states import LIFECYCLE

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- written by tools/reference.py -->", "<!-- end -->"
_SCOPES = {
    Scope.NONE: "",
    Scope.OWN: "own",
    Scope.PROJECT: "their projects",
    Scope.DOMAIN: "their domain",
    Scope.ALL: "everything",
}
_ROLES = (Role.USER, Role.PROJECT_ADMIN, Role.DOMAIN_ADMIN, Role.SUPERADMIN)


def main(arguments: list[str]) -> int:
    api, permissions = ROOT / "docs/reference/api.md", ROOT / "docs/reference/permissions.md"
    sdk, states = ROOT / "docs/reference/sdk.md", ROOT / "docs/reference/session-states.md"
    document = json.loads((ROOT / "openapi.json").read_text())
    rendered = {
        api: between(api.read_text(), operations(document)),
        permissions: between(permissions.read_text(), actions()),
        sdk: between(sdk.read_text(), classes()),
        states: between(states.read_text(), lifecycle()),
        ROOT / "web/src/api/actions.ts": typescript(),
        ROOT / "docs/reference/seccomp.json": json.dumps(json.loads(seccomp.profile()), indent=1) + "\n",
    }
    stale = [path for path, content in rendered.items() if not path.exists() or path.read_text() != content]
    if arguments == ["--check"]:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is out of date: run tools/reference.py", file=sys.stderr)
        return 1 if stale else 0
    for path in stale:
        path.write_text(rendered[path])
    return 0


def between(text: str, table: str) -> str:
    """The text with the part between its markers replaced."""
    head, rest = text.split(BEGIN)
    return f"{head}{BEGIN}\n\n{table}\n{END}{rest.split(END)[1]}"


def lifecycle() -> str:
    rows = ["| state | fails after |", "| --- | --- |"]
    rows += [
        f"| {state} | {limit.total_seconds() / 60:.0f} min |" for state, limit in LIFECYCLE.deadlines.items()
    ]
    return "\n".join(["```mermaid", LIFECYCLE.mermaid(), "```", "", *rows, ""])


def operations(document: dict[str, dict[str, dict[str, dict[str, object]]]]) -> str:
    rows = ["| operation | | path | action | what it does |", "| --- | --- | --- | --- | --- |"]
    members = [
        (str(operation["operationId"]), method.upper(), path.removeprefix("/api/v1"), operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    for name, method, path, operation in sorted(members, key=lambda each: each[0]):
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
        + " | ".join("everybody" if action.public else _SCOPES[action.scope(role)] for role in _ROLES)
        + " |"
        for action in ACTIONS.values()
    ]
    return "\n".join(rows) + "\n"


def classes() -> str:
    """The public classes of the SDK, with their attributes and methods; errors by their tree."""
    members = [getattr(carrel_client, name) for name in carrel_client.__all__ if name[0].isupper()]
    objects = [
        each for each in members if not issubclass(each, Exception) and not each.__name__.startswith("Async")
    ]
    carrel = carrel_client.Carrel
    # Classes that are reached from a Carrel only, and not exported by the package.
    objects += [
        inspect.getmodule(each).__dict__[name]
        for each, name in (
            (carrel_client.Session, "Sessions"),
            (carrel_client.Folder, "Folders"),
            (carrel_client.Template, "Templates"),
        )
    ]
    objects.sort(key=lambda each: (each is not carrel, each.__name__))
    errors = [each for each in members if issubclass(each, Exception)]
    lines = [text for each in objects for text in _class(each)]
    lines += ["## Errors", "", "| class | base | |", "| --- | --- | --- |"]
    for each in errors:
        about = (each.__doc__ or "").split("\n")[0]
        lines.append(f"| `{each.__name__}` | `{each.__base__.__name__}` | {about} |")
    return "\n".join(lines) + "\n"


def _class(kind: type) -> list[str]:
    lines = [f"## {kind.__name__}", "", inspect.cleandoc(kind.__doc__ or ""), ""]
    members = [(name, each) for name, each in vars(kind).items() if not name.startswith("_")]
    attributes = [(name, each) for name, each in members if isinstance(each, property)]
    methods = [
        (name, getattr(each, "__func__", each)) for name, each in members if not isinstance(each, property)
    ]
    fields = getattr(kind, "_fields", ())
    if attributes or fields:
        lines += ["| attribute | type | |", "| --- | --- | --- |"]
        lines += [
            f"| `{name}` | `{inspect.get_annotations(kind)[name].__forward_arg__}` | |" for name in fields
        ]
        for name, each in attributes:
            gives = str(each.fget.__annotations__["return"]).replace("|", "\\|")
            lines.append(f"| `{name}` | `{gives}` | {inspect.getdoc(each)} |")
        lines.append("")
    if kind.__name__ == "Carrel":
        lines += _method(kind.__name__, kind.__init__)  # type: ignore[misc]
    for name, each in methods:
        if isinstance(each, FunctionType):
            lines += _method(name, each)
    return lines


def _method(name: str, function: FunctionType) -> list[str]:
    shown = inspect.signature(function)
    parameters = [each for each in shown.parameters.values() if each.name not in ("self", "cls")]
    plain = inspect.Signature([each.replace(annotation=inspect.Parameter.empty) for each in parameters])
    about = inspect.cleandoc(function.__doc__ or "")
    gives = "" if name == "Carrel" else f" → `{shown.return_annotation}`"
    lines = [f"### {name}", "", f"`{name}{plain}`{gives}", ""]
    lines += [about, ""] if about else []
    if parameters:
        lines += [f"Parameters: {', '.join(f'`{each.name}: {each.annotation}`' for each in parameters)}.", ""]
    return lines


def typescript() -> str:
    """The table for the page: scope of each role, and the sentence for users."""
    lines = "".join(_line(action) for action in ACTIONS.values())
    sentences = "".join(f'  "{action.name}": {json.dumps(action.sentence)},\n' for action in ACTIONS.values())
    return f"""// Written by tools/reference.py from the one table of actions.

export type ActionScope = "none" | "own" | "project" | "domain" | "all";

export interface Action {{
  user: ActionScope;
  projectAdmin: ActionScope;
  domainAdmin: ActionScope;
  superadmin: ActionScope;
}}

export const ACTIONS = {{
{lines}}} as const satisfies Record<string, Action>;

export type ActionName = keyof typeof ACTIONS;

/** The sentences of the server. The page has its own, translated ones, and does not download these. */
export const SERVER_SENTENCES: Record<ActionName, string> = {{
{sentences}}};
"""


def _line(action: Action) -> str:
    scopes = [action.scope(role).name.lower() for role in _ROLES]
    return (
        f'  "{action.name}": {{\n    user: "{scopes[0]}",\n'
        f'    projectAdmin: "{scopes[1]}",\n    domainAdmin: "{scopes[2]}",\n    superadmin: "{scopes[3]}",\n  }},\n'
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
