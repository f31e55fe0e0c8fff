"""Builds of the fake engine: ARG, FROM, LABEL and COPY of a Dockerfile take effect, and RUN false fails; other lines
are ignored."""

import hashlib
import json
import tarfile
from collections.abc import Mapping, Set
from dataclasses import dataclass
from string import Template
from typing import IO

from carrel.engines.optional import BuildOutput, BuildSink
from carrel.engines.port import EngineError


@dataclass(frozen=True)
class BuiltImage:
    """id: determined by context and arguments."""

    id: str
    labels: Mapping[str, str]


def build(
    context: IO[bytes], arguments: Mapping[str, str], output: BuildSink, images: Set[str]
) -> BuiltImage:
    """Build the context. images: available base images. Raises: EngineError (build_failed)."""
    with tarfile.open(fileobj=context) as archive:
        files = {one.name: file.read() for one in archive if (file := archive.extractfile(one))}
    lines = [line for line in files["Dockerfile"].decode().splitlines() if line and line[0] != "#"]
    labels: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        output(BuildOutput(f"Step {number}/{len(lines)} : {line}", number, len(lines)))
        word, _, rest = Template(line).safe_substitute(arguments).partition(" ")
        if word == "FROM":
            image = rest.split()[0]
            _require(image in images, f"there is no image {image}")
        elif word == "LABEL":
            name, _, value = rest.partition("=")
            labels[name] = value
        elif word == "RUN":
            _require(rest != "false", "the command 'false' returned a non-zero code: 1")
        elif word == "COPY":
            source = json.loads(rest)[0] if rest.startswith("[") else rest.split()[0]
            _require(source == "." or source in files, f"{source} is not in the context")
    content = repr((sorted(files.items()), sorted(arguments.items())))
    return BuiltImage(f"fake:{hashlib.sha256(content.encode()).hexdigest()}", labels)


def _require(holds: bool, why: str) -> None:
    if not holds:
        raise EngineError(f"The image could not be built: {why}.", retriable=False, code="build_failed")
