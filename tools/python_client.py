"""Write the wire types of the Python client from openapi.json, or compare them with it.

python tools/python_client.py            write clients/python/src/carrel_client/models.py
python tools/python_client.py --check    exit code 1 when that file is not what would be written
"""

import argparse
import json
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "openapi.json"
MODELS = ROOT / "clients/python/src/carrel_client/models.py"

Schema = Mapping[str, Any]

HEAD = '''"""Wire types of the HTTP API, written by tools/python_client.py from openapi.json.

Answers are plain dictionaries; these types say what is in them. Times are RFC 3339 text in UTC.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict
'''
_PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_REF = "#/components/schemas/"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    wanted = render(json.loads(SOURCE.read_text()))
    if not args.check:
        MODELS.write_text(wanted)
        return 0
    if MODELS.read_text() == wanted:
        return 0
    print(
        f"{MODELS.relative_to(ROOT)} is not what openapi.json says; run tools/python_client.py",
        file=sys.stderr,
    )
    return 1


def render(document: Schema) -> str:
    """The module's text for an OpenAPI document."""
    schemas: Mapping[str, Schema] = document["components"]["schemas"]
    sent = _reachable(schemas, _bodies(document))
    blocks = [_definition(name, schema, partial=name in sent) for name, schema in sorted(schemas.items())]
    return HEAD + "".join(blocks)


def _definition(name: str, schema: Schema, *, partial: bool) -> str:
    """partial: this is sent by clients, which may leave out what has a default; the server leaves nothing out."""
    if "enum" in schema:
        return f"\n\n{name} = {_alternatives(schema['enum'])}\n"
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


def annotation(schema: Schema) -> str:
    """The Python type of a schema. Raises: ValueError for what no wire type of ours uses."""
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
    """The type of the values of an object that is used as a mapping."""
    patterns = schema.get("patternProperties")
    if patterns:
        return " | ".join(dict.fromkeys(map(annotation, patterns.values())))
    values = schema.get("additionalProperties", True)
    return annotation(values) if isinstance(values, Mapping) else "Any"


def _bodies(document: Schema) -> set[str]:
    """The schemas that are request bodies themselves."""
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    return {name for operation in operations for name in _references(operation.get("requestBody", {}))}


def _reachable(schemas: Mapping[str, Schema], names: set[str]) -> set[str]:
    reached: set[str] = set()
    waiting = set(names)
    while waiting:
        name = waiting.pop()
        reached.add(name)
        waiting |= set(_references(schemas[name])) - reached
    return reached


def _references(value: object) -> Iterator[str]:
    """The names of all schemas that a piece of the document refers to."""
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
