"""Write the API types and the methods of the Python client from openapi.json, or check them.

python tools/python_client.py            write models.py and operations.py of clients/python/src/carrel_client
python tools/python_client.py --check    exit code 1 if those files are out of date
"""

import argparse
import json
import keyword
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "openapi.json"
CLIENT = ROOT / "clients/python/src/carrel_client"

Schema = Mapping[str, Any]

HEAD = '''"""API types of the HTTP API, written by tools/python_client.py from openapi.json.

Answers are plain dictionaries; these types say what is in them. Times are RFC 3339 text in UTC.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict
'''
OPERATIONS_HEAD = '''"""One method for each operation of the HTTP API, written by tools/python_client.py.

What is left out of a call is left out of the request: the server's default holds, or a field stays as it is.
Every method raises CarrelError when the answer is no, or when there is none.
"""

from __future__ import annotations

import os

from carrel_client.transport import segment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Literal

    from carrel_client import models
    from carrel_client.transport import Transport

    UNSET: Any
else:
    UNSET = object()


class Group:
    """Operations on one kind of thing."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport


def _given(**fields: object) -> dict[str, object]:
    return {name.rstrip("_"): value for name, value in fields.items() if value is not UNSET}


def _key(given: str | None) -> str:
    return given or os.urandom(16).hex()
'''
_PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_REF = "#/components/schemas/"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    document = json.loads(SOURCE.read_text())
    rendered = {"models.py": render(document), "operations.py": operations(document)}
    stale = [name for name, content in rendered.items() if _present(CLIENT / name) != content]
    if args.check:
        for name in stale:
            print(f"{name} is not what openapi.json says; run tools/python_client.py", file=sys.stderr)
        return 1 if stale else 0
    for name in stale:
        (CLIENT / name).write_text(rendered[name])
    return 0


def _present(path: Path) -> str | None:
    return path.read_text() if path.exists() else None


def render(document: Schema) -> str:
    """The module's text for an OpenAPI document."""
    schemas: Mapping[str, Schema] = document["components"]["schemas"]
    sent = _reachable(schemas, _bodies(document))
    blocks = [_definition(name, schema, partial=name in sent) for name, schema in sorted(schemas.items())]
    return HEAD + "".join(blocks)


def _definition(name: str, schema: Schema, *, partial: bool) -> str:
    """partial: a request type: clients may omit fields with defaults; responses contain all fields."""
    if "enum" in schema:
        return f"\n\n{name} = {_alternatives(schema['enum'])}\n"
    if isinstance(schema.get("additionalProperties"), Mapping) and (partial or "properties" not in schema):
        return f"\n\n{name} = dict[str, {_values(schema)}]\n"
    required = set(schema.get("required", ()))
    lines = [f"\n\nclass {name}(TypedDict):\n"]
    if "description" in schema:
        lines.append(
            textwrap.indent(f'"""{schema["description"]}"""\n\n', "    ", lambda line: bool(line.strip()))
        )
    for field, value in schema.get("properties", {}).items():
        kind = annotation(value)
        lines.append(
            f"    {field}: {f'NotRequired[{kind}]' if partial and field not in required else kind}\n"
        )
    return "".join(lines)


def operations(document: Schema) -> str:
    """The text of the operations module."""
    groups: dict[str, list[str]] = {}
    for path, methods in sorted(document["paths"].items()):
        for method, operation in methods.items():
            group, name = operation["operationId"].split(".")
            text = _method(document, path, method.upper(), name, operation)
            if text:
                groups.setdefault(group, []).append(text)
    blocks = [
        f"\n\nclass {_class(group)}(Group):{''.join(sorted(texts))}"
        for group, texts in sorted(groups.items())
    ]
    blocks.append(
        '\n\nclass Operations:\n    """Every group, under its own name."""\n\n'
        "    def __init__(self, transport: Transport) -> None:\n"
        + "".join(f"        self.{group} = {_class(group)}(transport)\n" for group in sorted(groups))
    )
    ruff = [Path(sys.executable).with_name("ruff"), "format", "--line-length=110", "-"]
    text = OPERATIONS_HEAD + "".join(blocks)
    return subprocess.run(ruff, input=text, capture_output=True, text=True, check=True).stdout


def _class(group: str) -> str:
    return "".join(word.capitalize() for word in group.split("_"))


def _method(document: Schema, path: str, method: str, name: str, operation: Schema) -> str:
    """One method; empty for operations without JSON bodies or responses, or with headers only."""
    if method in ("HEAD", "OPTIONS"):
        return ""
    content = _answer(operation)
    sent = operation.get("requestBody", {}).get("content", {"application/json": {}})
    if (content and "application/json" not in content) or "application/json" not in sent:
        return ""
    gives = _typed(content["application/json"]["schema"]) if content else "None"
    parameters = operation.get("parameters", ())
    in_path = [each["name"] for each in parameters if each["in"] == "path"]
    query = [each for each in parameters if each["in"] == "query"]
    body = _fields(document, operation)
    keyed = any(each["name"].lower() == "idempotency-key" for each in parameters)
    signature = ["self", *(f"{_name(each)}: str" for each in in_path)]
    named = [f"{_name(field)}: {kind}" for field, kind, needed in body if needed]
    named += [f"{_name(each['name'])}: {_typed(each['schema'])}" for each in query if each.get("required")]
    named += [f"{_name(field)}: {kind} = UNSET" for field, kind, needed in body if not needed]
    named += [
        f"{_name(each['name'])}: {_optional(each['schema'])} = None"
        for each in query
        if not each.get("required")
    ]
    named += ["idempotency_key: str | None = None"] if keyed else []
    signature += ["*", *named] if named else []
    place = "".join(
        f"{{segment({_name(part[1:-1])})}}" if part.startswith("{") else part for part in _parts(path)
    )
    call = [f'"{method}"', f'f"{place}"' if in_path else f'"{place}"']
    if query:
        given = ", ".join(f'"{each["name"]}": {_name(each["name"])}' for each in query)
        call.append(f"query={{{given}}}")
    if operation.get("requestBody"):
        call.append(f"body=_given({', '.join(f'{_name(field)}={_name(field)}' for field, _, _ in body)})")
    call += ["key=_key(idempotency_key)"] if keyed else []
    lines = [f"def {_name(name)}(\n        {', '.join(signature)}\n    ) -> {gives}:"]
    lines.append(f'    """{operation["description"].strip()}"""')
    made = f"self._transport.call({', '.join(call)})"
    lines += [f"    answer: {gives} = {made}", "    return answer"] if content else [f"    {made}"]
    return "\n    " + "\n    ".join(lines) + "\n"


def _answer(operation: Schema) -> Schema:
    """The content of a successful response; empty if it has none."""
    answers = [answer for status, answer in operation["responses"].items() if status.startswith("2")]
    # Redirects of a browser are as useless to programs as a page.
    good = (answers or [{"content": {"text/html": {}}}])[0]
    content: Schema = good.get("content", {})
    return content


def _fields(document: Schema, operation: Schema) -> list[tuple[str, str, bool]]:
    """Name, type and whether it is required, of each field of the request body."""
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if not content:
        return []
    schema = content["schema"]
    schema = next(iter(schema.get("anyOf", ())), schema)  # an optional body
    while "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].removeprefix(_REF)]
    needed = schema.get("required", ())
    return [(field, _typed(each), field in needed) for field, each in schema.get("properties", {}).items()]


def _parts(path: str) -> list[str]:
    return [part for part in re.split(r"({[^}]*})", path) if part]


def _name(name: str) -> str:
    plain = name.replace("-", "_")
    return f"{plain}_" if keyword.iskeyword(plain) else plain


def _typed(schema: Schema) -> str:
    """The type of an argument or a response, with API types qualified by their module."""
    # In these classes "list" is a method.
    plain = annotation(schema).replace("list[", "Sequence[")
    return re.sub(r"\b[A-Z]\w*\b(?!\()", _in_models, plain)


def _in_models(match: re.Match[str]) -> str:
    name = match[0]
    return (
        name
        if name in ("Any", "Literal", "None", "Sequence")
        or match.string[match.start() - 1 : match.start()] == '"'
        else f"models.{name}"
    )


def _optional(schema: Schema) -> str:
    kind = _typed(schema)
    return kind if "None" in kind.split(" | ") else f"{kind} | None"


def annotation(schema: Schema) -> str:
    """The Python type of a schema. Raises: ValueError for schemas that no API type uses."""
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix(_REF)
    if "enum" in schema:
        return _alternatives(schema["enum"])
    if "const" in schema:
        return _alternatives([schema["const"]])
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(map(annotation, schema["anyOf"])))
    kind = schema.get("type")
    if kind == "array":
        return f"list[{annotation(schema['items'])}]"
    if kind == "object":
        return f"dict[str, {_values(schema)}]"
    if kind is None:
        return "Any"
    if kind not in _PLAIN:
        raise ValueError(f"no Python type for {dict(schema)}")
    return _PLAIN[kind]


def _alternatives(values: list[object]) -> str:
    one = f"Literal[{', '.join(json.dumps(value) for value in values)}]"
    if len(one) < 90:
        return one
    return "Literal[\n" + "".join(f"    {json.dumps(value)},\n" for value in values) + "]"


def _values(schema: Schema) -> str:
    """The value type of an object that is used as a mapping."""
    patterns = schema.get("patternProperties")
    if patterns:
        return " | ".join(dict.fromkeys(map(annotation, patterns.values())))
    values = schema.get("additionalProperties", True)
    return annotation(values) if isinstance(values, Mapping) else "Any"


def _bodies(document: Schema) -> set[str]:
    """The schemas that are used as request bodies directly."""
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    return {name for operation in operations for name in _references(operation.get("requestBody", {}))}


def _reachable(schemas: Mapping[str, Schema], names: set[str]) -> set[str]:
    reachable: set[str] = set()
    waiting = set(names)
    while waiting:
        name = waiting.pop()
        reachable.add(name)
        waiting |= set(_references(schemas[name])) - reachable
    return reachable


def _references(value: object) -> Iterator[str]:
    """The names of all schemas that a part of the document refers to."""
    if isinstance(value, Mapping):
        if "$ref" in value:
            yield str(value["$ref"]).removeprefix(_REF)
        for part in value.values():
            yield from _references(part)
    elif isinstance(value, list):
        for part in value:
            yield from _references(part)


if __name__ == "__main__":
    raise SystemExit(main())
