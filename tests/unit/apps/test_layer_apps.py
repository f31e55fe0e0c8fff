"""The apps of the app layer, and those that images declare."""

from pathlib import Path

import pytest

from carrel.apps import app_catalogue
from carrel.apps.app_templates import templates
from carrel.apps.layer_apps import LAYER_APPS, offered

RECIPES = Path(__file__).parents[3] / "images"
OWN = {"name": "jupyter", "title": "Own", "protocol": "http", "port": 8888, "command": ["lab"]}


def test_an_image_without_apps_has_those_of_the_layer() -> None:
    assert tuple(templates(offered([], layer=True)).values()) == LAYER_APPS


def test_an_app_of_the_image_counts_more_than_the_layers_of_its_name() -> None:
    apps = templates(offered([OWN], layer=True))
    assert apps["jupyter"].title == "Own"
    assert list(apps) == ["jupyter", "vscode", "files"]


def test_each_app_of_the_layer_replaces_that_of_the_catalogue() -> None:
    assert {app.name for app in LAYER_APPS} <= set(app_catalogue.built_in())


def test_without_the_layer_only_those_of_the_image_are_left() -> None:
    assert offered(offered([OWN], layer=True), layer=False) == [OWN]


def test_each_app_of_the_layer_has_a_port_and_demands_the_secret() -> None:
    assert len({app.port for app in LAYER_APPS}) == len(LAYER_APPS)
    assert all("{secret}" in app.auth_header for app in LAYER_APPS)


@pytest.mark.parametrize("recipe", ["starter", "app-layer"])
def test_python_is_compiled_once_in_the_image_and_not_in_each_session(recipe: str) -> None:
    lines = (RECIPES / recipe / "Dockerfile").read_text().splitlines()
    installed = [line for line in lines if "$uv pip install" in line]
    assert installed
    assert [line for line in installed if "--compile-bytecode" not in line] == []
