"""devcontainer.json: what of it makes an image, and what it asks for besides. Pure.

Source: the specification at containers.dev, as of 2025. An editor would do more with it: what has no meaning for an
image is named, so that nobody expects it.
"""

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from carrel.builds import dockerfile as dockerfiles
from carrel.core.errors import Invalid

FILE = "devcontainer.json"
PLACES = (f".devcontainer/{FILE}", f".{FILE}", FILE)
"""Where it is looked for, in this order."""
_COMMANDS = ("onCreateCommand", "updateContentCommand", "postCreateCommand")
_USED = {
    "$schema",
    "name",
    "image",
    "build",
    "dockerFile",
    "context",
    "containerEnv",
    "remoteEnv",
    *_COMMANDS,
}
_BUILD = {"dockerfile", "context", "args", "target"}
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_PLAIN = re.compile(r"[^\s\"'\\$]*")
_OF_CONTAINER = re.compile(r"\$\{containerEnv:([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True)
class Devcontainer:
    """image, or dockerfile: the path of one in the context; context: the directory to which its COPY is relative.
    variables: by name, with ${NAME} for others. commands: for a shell. ignored: what has no effect.
    """

    image: str | None
    dockerfile: str | None
    context: str
    arguments: Mapping[str, str] = field(default_factory=dict)
    target: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    commands: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


def read(text: str, path: str) -> Devcontainer:
    """Read and check it. Raises: Invalid, also for features."""
    stated = _parsed(text, path)
    if features := stated.get("features"):
        names = ", ".join(str(one)[:100] for one in list(features)[:10])
        raise _bad(
            path,
            f"has features, which cannot be installed here: {names}",
            "Install what they bring in its Dockerfile or in onCreateCommand, and remove them.",
        )
    if "dockerComposeFile" in stated:
        raise _bad(
            path,
            "names services of Compose",
            "Give it an image or a build instead of dockerComposeFile.",
        )
    build = _table(stated, "build", path)
    named = build.get("dockerfile", stated.get("dockerFile"))
    image = stated.get("image")
    if (named is None) == (image is None) or not all(isinstance(one, str | None) for one in (named, image)):
        raise _bad(path, "has not exactly one of image and build.dockerfile", "Name what it is built on.")
    if not isinstance(target := build.get("target"), str | None):
        raise _bad(path, "has a build.target that is no text", "Name a stage of the Dockerfile.")
    variables, unknown = _variables(stated, path)
    directory = PurePosixPath(path).parent
    context = build.get("context", stated.get("context", "."))
    return Devcontainer(
        image=image,
        dockerfile=None if named is None else _within(directory, named, path),
        context=_within(directory, context, path),
        arguments=_arguments(build, path),
        target=target,
        variables=variables,
        commands=tuple(one for name in _COMMANDS for one in _commands(stated.get(name), name, path)),
        ignored=(
            *sorted({*stated} - _USED),
            *(f"build.{one}" for one in sorted({*build} - _BUILD)),
            *unknown,
        ),
    )


def lines(one: Devcontainer, texts: Mapping[str, str], path: str, *, source: str) -> list[str]:
    """The Dockerfile of it. texts: of the context, by path. source: where its commands find the files of the context.

    Raises: Invalid.
    """
    below = [f"FROM {one.image}"]
    if one.dockerfile is not None:
        if one.dockerfile not in texts:
            raise _bad(path, f"names {one.dockerfile}, which is not there", "Give the directory that has it.")
        below = _rewritten(one, texts[one.dockerfile])
    if not one.variables and not one.commands:
        return below
    variables = [f'ENV {name}="{value}"' for name, value in one.variables.items()]
    commands = [f"COPY . {source}"] if one.commands else []
    for command in one.commands:
        commands.append(dockerfiles.words_of(["/bin/sh", "-c", f"cd {source} && {{ {command}\n}}"]))
    return [*below, "USER root", *variables, *commands]


def _rewritten(one: Devcontainer, text: str) -> list[str]:
    """Its instructions until the end of the target, with its arguments, and sources relative to the whole context."""
    name = one.dockerfile or dockerfiles.FILE
    instructions, complete = [], one.target is None
    for line in dockerfiles.read(_with_arguments(one, text), name=name).instructions:
        if line.word == "FROM" and complete and one.target is not None:
            break
        words = line.rest.split()
        if line.word == "FROM" and one.target is not None:
            complete = words[-1] == one.target.lower() and len(words) == 3
        rest = _moved(line.rest, one.context) if line.word == "COPY" else line.rest
        instructions.append(f"{line.word} {rest}")
    if not complete:
        raise _bad(name, f"has no stage {one.target}", "Correct build.target.")
    return instructions


def _with_arguments(one: Devcontainer, text: str) -> str:
    for name, value in one.arguments.items():
        text = re.sub(rf"(?mi)^(\s*ARG\s+){name}(?:=\S*)?\s*$", rf"\g<1>{name}={value}", text)
    return text


def _moved(rest: str, directory: str) -> str:
    """COPY whose sources are relative to a directory of the context."""
    if directory == "." or "--from=" in rest:
        return rest
    flags = [word for word in rest.split() if word.startswith("--")]
    try:
        words = json.loads(rest.split(maxsplit=len(flags))[-1])
    except ValueError:
        words = rest.split()[len(flags) :]
    moved = [f"{directory}/{word.removeprefix('/').removeprefix('./')}" for word in words[:-1]]
    return " ".join([*flags, json.dumps([*moved, words[-1]])])


def _parsed(text: str, path: str) -> dict[str, Any]:
    """JSON with comments and commas at the end."""
    plain = _TOKEN.sub(lambda match: match[0] if match[0].startswith('"') else "", text)
    try:
        # A comma before a comment before a bracket is at the end only now.
        stated = json.loads(_TOKEN.sub(lambda match: match[0] if match[0].startswith('"') else "", plain))
    except ValueError as error:
        raise _bad(path, f"cannot be read: {error}", "Correct it, and try again.") from error
    if not isinstance(stated, dict):
        raise _bad(path, "is no JSON object", "Correct it, and try again.")
    return stated


def _table(stated: Mapping[str, Any], name: str, path: str) -> dict[str, Any]:
    value = stated.get(name) or {}
    if not isinstance(value, dict):
        raise _bad(path, f"has a {name} that is no object", "Correct it, and try again.")
    return value


def _arguments(build: Mapping[str, Any], path: str) -> dict[str, str]:
    arguments = {}
    for name, value in _table(build, "args", path).items():
        if not _NAME.fullmatch(name) or not isinstance(value, str) or not _PLAIN.fullmatch(value):
            raise _bad(
                path,
                f"has a build argument {name[:60]} with a variable, a quote or a space",
                "Write its value into the Dockerfile.",
            )
        arguments[name] = value
    return arguments


def _variables(stated: Mapping[str, Any], path: str) -> tuple[dict[str, str], list[str]]:
    """Those that can be set, as ENV has them, and the names of others, which refer to somebody's machine."""
    variables: dict[str, str] = {}
    others = []
    for table in ("containerEnv", "remoteEnv"):
        for name, value in _table(stated, table, path).items():
            text = str(value) if isinstance(value, str | int | float) else "$"
            parts = _OF_CONTAINER.split(text)
            if not _NAME.fullmatch(name) or not text.isprintable() or "$" in "".join(parts[::2]):
                others.append(f"{table}.{name[:60]}")
                continue
            texts = [re.sub(r'(["\\])', r"\\\1", one) for one in parts[::2]]
            variables[name] = texts[0] + "".join(
                f"${{{other}}}{text}" for other, text in zip(parts[1::2], texts[1:], strict=True)
            )
    return variables, others


def _commands(stated: Any, name: str, path: str) -> list[str]:
    """A text for a shell, a list of words, or several of them by name."""
    if stated is None:
        return []
    if isinstance(stated, dict):
        return [one for value in stated.values() for one in _commands(value, name, path)]
    if isinstance(stated, list) and all(isinstance(word, str) for word in stated):
        return [shlex.join(stated)]
    if isinstance(stated, str) and "\0" not in stated:
        return [stated]
    raise _bad(path, f"has a {name} that is no command", "Write a text, or a list of words.")


def _within(directory: PurePosixPath, stated: Any, path: str) -> str:
    """The path from the top of the context. Raises: Invalid outside of it."""
    parts: list[str] = []
    for part in (directory / str(stated)).parts:
        if part == ".." and parts:
            parts.pop()
        elif part in ("..", "/"):
            raise _bad(
                path, f"names {str(stated)[:100]}, which is outside of the context", "Name a file in it."
            )
        elif part != ".":
            parts.append(part)
    return "/".join(parts) or "."


def _bad(path: str, problem: str, hint: str) -> Invalid:
    return Invalid("build.bad_recipe", f"{path} {problem}.", hint=hint, field="files")
