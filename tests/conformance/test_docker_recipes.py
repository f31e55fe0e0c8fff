"""Recipes built by a real daemon; environment.yml on an image with a program that stands for micromamba."""

import io
import json
import tarfile
from collections.abc import AsyncIterator

import pytest
from tiny_image import ensure_tiny_image

from carrel.builds import build_recipes
from carrel.builds.building import BuildRules, input_of
from carrel.core.ids import new_id
from carrel.engines.conformance_kit import refused
from carrel.engines.docker import DockerEngine
from carrel.engines.optional import BuildLimits, BuildOutput, CommittedImage
from carrel.engines.port import EngineError
from carrel.tables.builds import BuiltVersion

_LIMITS = BuildLimits(cpu_millis=500, mem_bytes=256 << 20, disk_bytes=1 << 30, time_s=120)
_MICROMAMBA = r"""#!/bin/sh
# As micromamba 2: VERB -y -r ROOT -p PREFIX -f FILE
verb=$1; shift
while [ $# -gt 0 ]; do
    case $1 in -r) root=$2; shift;; -p) prefix=$2; shift;; -f) file=$2; shift;; esac
    shift
done
if [ "$verb" = create ] && [ -d "$prefix/conda-meta" ]; then echo "error    libmamba Prefix exists" >&2; exit 1; fi
if grep -q nowhere "$file"; then
    echo "critical libmamba Unable to retrieve repodata (response: 404) for 'https://conda.anaconda.org/nowhere'" >&2
    exit 1
fi
if grep -q no-such "$file"; then
    echo "error    libmamba Could not solve for environment specs" >&2
    echo "    no-such does not exist (perhaps a typo or a missing channel)." >&2
    exit 1
fi
mkdir -p "$root/pkgs" "$prefix/bin" "$prefix/conda-meta"
cp "$file" "$prefix/conda-meta/asked.$verb"
if grep -q python "$file"; then
    printf '#!/bin/sh\necho "python was given $*"\n' > "$prefix/bin/python"
    chmod 755 "$prefix/bin/python"
fi
"""


@pytest.fixture
async def base(docker_engine: DockerEngine) -> AsyncIterator[str]:
    """An image with the program."""
    key = new_id()
    reference = f"localhost/carrel/environments/{key}:1"
    marks = docker_engine.build_marks(key, key)
    lines = [f"FROM {await ensure_tiny_image()}", marks.stage, "USER root"]
    lines += ["COPY micromamba /bin/micromamba", "RUN chmod 755 /bin/micromamba", marks.image]
    with io.BytesIO() as context:
        with tarfile.open(fileobj=context, mode="w") as archive:
            for name, text in (("Dockerfile", "\n".join(lines)), ("micromamba", _MICROMAMBA)):
                entry = tarfile.TarInfo(name)
                entry.size = len(text.encode())
                archive.addfile(entry, io.BytesIO(text.encode()))
        context.seek(0)
        await docker_engine.build(
            context, reference, key, group=key, arguments={}, limits=_LIMITS, output=lambda _: None
        )
    yield reference
    await docker_engine.discard_commit(key)


async def built(
    engine: DockerEngine,
    base: str,
    text: str,
    output: list[BuildOutput],
    *,
    micromamba: str = "http://127.0.0.1:9/{platform}",
) -> CommittedImage:
    """The image that the file makes; output has what was printed. It is removed again."""
    path = ".devcontainer.json" if text.startswith('{"') else "environment.yml"
    recipe = build_recipes.plan({path: text}, [path], chosen=None, base=base, micromamba=micromamba)
    row = BuiltVersion(dockerfile=recipe.dockerfile, added={**recipe.files, **recipe.added})
    key = new_id()
    images = {name: name for name in (base, micromamba)}
    given = input_of(row, None, BuildRules(), images=images, marks=engine.build_marks(key, key))
    reference = f"localhost/carrel/environments/{key}:1"
    try:
        return await engine.build(
            given, reference, key, group=key, arguments={}, limits=_LIMITS, output=output.append
        )
    finally:
        await engine.discard_commit(key)
        await engine.discard_builds(key)


def printed_by(output: list[BuildOutput]) -> str:
    """What steps printed, without the steps themselves."""
    return "\n".join(line.text for line in output if not line.text.startswith("Step "))


async def test_packages_of_channels_and_of_pip_are_installed_and_are_first_on_the_path(
    docker_engine: DockerEngine, base: str
) -> None:
    output: list[BuildOutput] = []
    text = "dependencies: [python=3.12, pip, {pip: [rich]}]\nvariables: {DATA: 'a $b'}\n"
    made = await built(docker_engine, base, text, output)
    printed = printed_by(output)
    assert "python was given -m pip --version" in printed
    assert "python was given -m pip install -r /tmp/recipe/requirements.txt" in printed
    assert made.added_bytes > 0
    output.clear()
    await built(docker_engine, base, "dependencies: [r-base]", output, micromamba=base)
    assert any(f"COPY --from={base} /bin/micromamba" in line.text for line in output)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (
            "{channels: [nowhere], dependencies: [x]}",
            "(response: 404) for 'https://conda.anaconda.org/nowhere'",
        ),
        ("{dependencies: [no-such]}", "no-such does not exist"),
    ],
)
async def test_a_missing_channel_and_an_unknown_package_are_named_with_what_to_do(
    docker_engine: DockerEngine, base: str, text: str, cause: str
) -> None:
    output: list[BuildOutput] = []
    error = await refused(EngineError, built(docker_engine, base, text, output))
    assert "returned a non-zero code: 1" in error.message
    printed = printed_by(output)
    assert printed.index(cause) < printed.index("all its channels must be reachable from builds")


async def test_without_micromamba_it_is_said_what_is_needed(docker_engine: DockerEngine) -> None:
    output: list[BuildOutput] = []
    building = built(docker_engine, await ensure_tiny_image(), "dependencies: [x]", output)
    await refused(EngineError, building)
    assert "CARREL_BUILD_MICROMAMBA" in printed_by(output)


async def test_pip_needs_a_python_of_the_environment(docker_engine: DockerEngine, base: str) -> None:
    output: list[BuildOutput] = []
    text = "dependencies: [r-base, {pip: [rich]}]"
    await refused(EngineError, built(docker_engine, base, text, output))
    assert "needs python and pip among its other dependencies" in printed_by(output)


async def test_commands_of_a_devcontainer_run_among_its_files_with_its_variables(
    docker_engine: DockerEngine,
) -> None:
    tiny = await ensure_tiny_image()
    stated = {
        "image": tiny,
        "containerEnv": {"GREETING": "hello ${containerEnv:PATH}"},
        "onCreateCommand": ["sh", "-c", 'echo "it is $GREETING"'],
        "postCreateCommand": "pwd\nls -a | grep devcontainer",
    }
    output: list[BuildOutput] = []
    await built(docker_engine, tiny, json.dumps(stated), output)
    printed = printed_by(output)
    assert "it is hello /" in printed
    assert printed.index("/srv/repository") < printed.index(".devcontainer.json")
