"""What a devcontainer.json means: the Dockerfile that follows from it."""

import json

import pytest

from carrel.builds import build_recipes as recipes
from carrel.builds import dockerfile
from carrel.builds.build_recipes import Recipe, RecipeKind
from carrel.core.errors import Invalid

PATH = ".devcontainer/devcontainer.json"
DOCKERFILE = """ARG VERSION=1
FROM debian:${VERSION} AS base
ARG TOOL
RUN install $TOOL
COPY setup.sh /opt/
COPY --chown=1:1 ["./a b", "/opt/a"]
FROM base AS last
RUN false
"""


def planned(stated: object, more: dict[str, str] | None = None, path: str = PATH) -> Recipe:
    files = {path: stated if isinstance(stated, str) else json.dumps(stated), **(more or {})}
    recipe = recipes.plan(files, [*files], chosen=None, base="starter", micromamba="https://x.example")
    dockerfile.read(recipe.dockerfile)
    return recipe


def test_an_image_with_variables_and_commands_is_built_and_the_rest_is_named() -> None:
    text = """{
        // Comments, and commas at the end
        "name": "lab", /* here "too" */
        "image": "debian:12",
        "containerEnv": {"URL": "https://x.example//a", "HOME_OF": "${localEnv:HOME}",},
        "remoteEnv": {"PATH": "/opt/bin:${containerEnv:PATH}", "QUOTED": "a \\"b\\"", "UNSET": null},
        "postCreateCommand": ["pip", "install", "-r", "my list.txt"],
        "onCreateCommand": {"one": "apt-get update\\napt-get install -y git", "two": "true"},
        "forwardPorts": [8000],
        "customizations": {"vscode": {}}, // , }
    }"""
    recipe = planned(text)
    assert recipe.kind == RecipeKind.DEVCONTAINER
    assert list(recipe.files) == [PATH]
    lines = recipe.dockerfile.splitlines()
    assert lines[:2] == ["FROM debian:12", "USER root"]
    assert 'ENV URL="https://x.example//a"' in lines
    assert 'ENV PATH="/opt/bin:${PATH}"' in lines
    assert 'ENV QUOTED="a \\"b\\""' in lines
    commands = [json.loads(line.removeprefix("RUN "))[2] for line in lines if line.startswith("RUN ")]
    assert [one.splitlines()[0] for one in commands] == [
        "cd /srv/repository && { apt-get update",
        "cd /srv/repository && { true",
        "cd /srv/repository && { pip install -r 'my list.txt'",
    ]
    [note] = recipe.notes
    for name in ("forwardPorts", "customizations", "containerEnv.HOME_OF", "remoteEnv.UNSET"):
        assert name in note


def test_a_dockerfile_is_built_with_arguments_to_its_target_from_its_context() -> None:
    build = {"dockerfile": "Dockerfile", "args": {"VERSION": "12", "TOOL": "git"}, "target": "base"}
    recipe = planned({"build": build | {"options": ["--x"]}}, {".devcontainer/Dockerfile": DOCKERFILE})
    assert recipe.dockerfile.splitlines() == [
        "ARG VERSION=12",
        "FROM debian:12 AS base",
        "ARG TOOL=git",
        "RUN install $TOOL",
        'COPY [".devcontainer/setup.sh", "/opt/"]',
        'COPY --chown=1:1 [".devcontainer/a b", "/opt/a"]',
    ]
    assert set(recipe.files) == {PATH, ".devcontainer/Dockerfile"}
    assert recipe.notes == ("Ignored, because it has no effect on an image: build.options.",)
    other = planned(
        {"build": {"dockerfile": "../Dockerfile.dev", "context": ".."}}, {"Dockerfile.dev": DOCKERFILE}
    )
    assert "COPY setup.sh /opt/" in other.dockerfile
    assert other.dockerfile.endswith("RUN false\n")


def test_it_is_the_recipe_only_if_nothing_else_is() -> None:
    assert planned({"image": "debian:12"}, {"requirements.txt": "numpy"}).kind == RecipeKind.REPOSITORY
    assert planned({"image": "debian:12"}, path=".devcontainer.json").kind == RecipeKind.DEVCONTAINER
    files = {PATH: '{"image": "debian:12"}', "requirements.txt": "numpy"}
    chosen = recipes.plan(files, [*files], chosen=PATH, base="starter", micromamba="x")
    assert chosen.dockerfile == "FROM debian:12\n"
    assert recipes.referenced({PATH: '{"dockerFile": "Dockerfile"}'}, None) == [".devcontainer/Dockerfile"]


@pytest.mark.parametrize(
    ("stated", "problem"),
    [
        ("{", "cannot be read"),
        ([], "no JSON object"),
        ({}, "exactly one of image and build.dockerfile"),
        ({"build": {"dockerfile": "Dockerfile", "target": 5}}, "no text"),
        ({"image": "a", "features": {"ghcr.io/devcontainers/features/node:1": {}}}, "features/node:1"),
        ({"dockerComposeFile": "compose.yml", "service": "app"}, "services of Compose"),
        ({"build": {"dockerfile": "Dockerfile"}}, "Dockerfile, which is not there"),
        ({"build": {"dockerfile": "../../Dockerfile"}}, "outside of the context"),
        ({"build": {"dockerfile": "D", "args": {"A": "${localEnv:X}"}}}, "build argument A"),
        ({"build": "x"}, "no object"),
        ({"image": "a", "postCreateCommand": 1}, "no command"),
    ],
)
def test_what_cannot_be_built_says_so(stated: object, problem: str) -> None:
    with pytest.raises(Invalid, match=problem) as refused:
        planned(stated)
    assert refused.value.code == "build.bad_recipe"
    assert refused.value.hint


def test_a_target_that_is_not_there_is_named() -> None:
    build = {"build": {"dockerfile": "Dockerfile", "target": "none"}}
    with pytest.raises(Invalid, match="no stage none"):
        planned(build, {".devcontainer/Dockerfile": DOCKERFILE})
