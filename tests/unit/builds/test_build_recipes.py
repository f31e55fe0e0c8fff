"""What recipes mean: the Dockerfile that follows from files."""

import pytest

from carrel.builds import build_recipes as recipes
from carrel.builds import dockerfile
from carrel.builds.build_recipes import RecipeKind
from carrel.core.errors import Invalid


def planned(
    files: dict[str, str], chosen: str | None = None, *, more: tuple[str, ...] = ()
) -> recipes.Recipe:
    recipe = recipes.plan(files, [*files, *more], chosen=chosen, base="starter")
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
        ({"environment.yml": "dependencies: []"}, "build.not_supported"),
        ({"devcontainer.json": "{}"}, "build.not_supported"),
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
