"""What recipes mean: the Dockerfile that follows from files."""

import pytest

from carrel.builds import build_recipes as recipes
from carrel.builds import dockerfile
from carrel.builds.build_recipes import RecipeKind
from carrel.core.errors import Invalid


def planned(
    files: dict[str, str], chosen: str | None = None, *, more: tuple[str, ...] = ()
) -> recipes.Recipe:
    recipe = recipes.plan(
        files, [*files, *more], chosen=chosen, base="starter", micromamba="https://x.example/{platform}"
    )
    dockerfile.read(recipe.dockerfile)
    return recipe


def test_requirements_are_installed_by_pip_from_that_file_alone() -> None:
    recipe = planned({"requirements.txt": "numpy==2.0\n"}, "requirements.txt", more=("data.csv",))
    assert recipe.kind == RecipeKind.REQUIREMENTS
    first, *_ = lines = recipe.dockerfile.splitlines()
    assert first == "FROM starter"
    assert 'COPY ["requirements.txt", "/tmp/recipe/requirements.txt"]' in lines
    assert "pip install -r /tmp/recipe/requirements.txt" in recipe.dockerfile


@pytest.mark.parametrize("line", ["-r base.txt", "-e .", "./wheels/x.whl", "x @ file:x.whl"])
def test_requirements_that_name_files_need_the_context(line: str) -> None:
    with pytest.raises(Invalid, match="names other files"):
        planned({"requirements.txt": line}, "requirements.txt")
    assert "COPY . " in planned({"requirements.txt": line}, "requirements.txt", more=("base.txt",)).dockerfile


def test_dependencies_of_a_project_are_installed_as_locked_or_as_listed() -> None:
    project = '[project]\nname = "x"\ndependencies = ["numpy>=2", "rich"]\n'
    listed = planned({"pyproject.toml": project}, "pyproject.toml")
    assert listed.added == {".carrel/requirements.txt": "numpy>=2\nrich\n"}
    assert list(listed.files) == ["pyproject.toml"]
    locked = planned({"pyproject.toml": project, "uv.lock": "version = 1"}, "pyproject.toml")
    assert "uv export" in locked.dockerfile
    assert set(locked.files) == {"pyproject.toml", "uv.lock"}
    for text in ("[project]\nname = 'x'", "[project", "project = 1"):
        with pytest.raises(Invalid):
            planned({"pyproject.toml": text}, "pyproject.toml")


def test_a_repository_is_built_by_its_conventions() -> None:
    files = {
        "requirements.txt": "ignored",
        "binder/apt.txt": "git # for versions\nlibgl1\n",
        "binder/requirements.txt": "numpy",
        "binder/postBuild": "#!/bin/sh\necho done",
        "binder/runtime.txt": "python-3.11.4\n",
    }
    recipe = planned(files)
    assert recipe.kind == RecipeKind.REPOSITORY
    assert set(recipe.files) == set(files) - {"requirements.txt"}
    text = recipe.dockerfile
    assert text.index("sys.version_info[:2] != (3, 11)") < text.index(
        "install -y --no-install-recommends git libgl1"
    )
    assert text.index("libgl1") < text.index("pip install") < text.index("./binder/postBuild")
    dockerfile_first = {**files, "binder/Dockerfile": "FROM debian:12"}
    assert planned(dockerfile_first).dockerfile == "FROM debian:12"
    assert planned({"Dockerfile": "FROM x", "apt.txt": "git"}).kind == RecipeKind.DOCKERFILE


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"devcontainer.json": "{}"}, "build.bad_recipe"),
        ({"apt.txt": "git; rm -rf /"}, "build.bad_recipe"),
        ({"apt.txt": "-o=Dir::x"}, "build.bad_recipe"),
        ({"runtime.txt": "r-4.2"}, "build.bad_recipe"),
        ({"README.md": "hello"}, "build.bad_recipe"),
    ],
)
def test_what_cannot_be_built_says_so(files: dict[str, str], code: str) -> None:
    with pytest.raises(Invalid) as refused:
        planned(files)
    assert refused.value.code == code
    assert refused.value.hint


ENVIRONMENT = """
name: lab
channels: [conda-forge, nodefaults]
dependencies:
  - python=3.12
  - pip
  - pip: [rich>=13, "requests[socks]==2.32"]
variables: {DATA: /data/$x, QUOTED: 'a "b"'}
"""


def test_an_environment_of_conda_is_installed_from_its_channels_then_by_pip() -> None:
    recipe = planned({"environment.yml": ENVIRONMENT}, "environment.yml")
    assert recipe.kind == RecipeKind.CONDA
    assert recipe.added == {
        ".carrel/environment.yml": "channels:\n- conda-forge\ndependencies:\n- python=3.12\n- pip\n",
        ".carrel/requirements.txt": "rich>=13\nrequests[socks]==2.32\n",
    }
    text = recipe.dockerfile
    assert text.index("command -v micromamba") < text.index("-p /opt/conda -f /tmp/recipe/environment.yml")
    assert text.index("environment.yml was not installed") < text.index(
        "/opt/conda/bin/python -m pip install -r"
    )
    assert "ENV PATH=/opt/conda/bin:$PATH" in text
    assert 'ENV DATA="/data/\\$x"' in text
    assert 'ENV QUOTED="a \\"b\\""' in text
    usual = planned({"environment.yaml": "dependencies: [r-base]"}, "environment.yaml")
    assert usual.added[".carrel/environment.yml"].startswith("channels:\n- conda-forge\n")
    assert "pip install" not in usual.dockerfile


def test_micromamba_is_from_an_image_if_the_site_has_one() -> None:
    files = {"environment.yml": "dependencies: [r-base]"}
    recipe = recipes.plan(files, [*files], chosen=None, base="starter", micromamba="mambaorg/micromamba:2")
    assert "COPY --from=mambaorg/micromamba:2 /bin/micromamba" in recipe.dockerfile
    assert dockerfile.read(recipe.dockerfile).images == ("starter", "mambaorg/micromamba:2")


def test_in_a_repository_an_environment_of_conda_stands_for_other_lists() -> None:
    files = {"binder/environment.yml": ENVIRONMENT, "binder/requirements.txt": "no", "binder/apt.txt": "git"}
    text = planned(files).dockerfile
    assert text.index("git") < text.index("micromamba") < text.index("pip install -r")
    assert 'COPY ["binder/requirements.txt"' not in text
    local = {"environment.yml": "dependencies: [python, pip, {pip: ['-r more.txt']}]"}
    with pytest.raises(Invalid, match="names other files"):
        planned(local, "environment.yml")
    text = planned(local, "environment.yml", more=("more.txt",)).dockerfile
    assert "cd /srv/repository/. && cp /tmp/recipe/requirements.txt" in text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("dependencies: [", "no YAML"),
        ("channels: [x]", "no list of dependencies"),
        ("dependencies: [{pip: [rich]}]", "nothing from a conda channel"),
        ("dependencies: [a, 1]", "no text"),
        ("dependencies: [a, {npm: [x]}]", "no text"),
        ('dependencies: ["a\\nb"]', "no text"),
        ("{dependencies: [a], channels: [https://u:p@x.org/c]}", "password"),
        ("{dependencies: [a], channels: [https://x.org/t/abc/c]}", "token"),
        ("{dependencies: [a], channels: x}", "no list of names"),
        ("{dependencies: [a], channels: ['$(x)']}", "channel"),
        ("{dependencies: [a], variables: {'a b': c}}", "variables"),
        ("{dependencies: [a], platforms: [linux-64]}", "platforms, which is not supported"),
    ],
)
def test_an_environment_that_cannot_be_installed_says_why(text: str, problem: str) -> None:
    with pytest.raises(Invalid, match=problem) as refused:
        planned({"environment.yml": text}, "environment.yml")
    assert refused.value.hint
