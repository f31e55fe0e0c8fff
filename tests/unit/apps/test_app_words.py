"""Placeholders in the commands of apps, and their options."""

from dataclasses import replace

import pytest

from carrel.apps import app_catalogue, app_templates, opening, session_apps
from carrel.apps.app_templates import AppOption, AppTemplate, OptionType, template
from carrel.apps.session_apps import AppOfSession, AppSource
from carrel.core.errors import Conflict, Invalid

BOARD = AppTemplate(
    "board",
    "Board",
    "http",
    6006,
    command=("board", "--port={port}", "--dir={dir}", "{extra}", "", '{"a": 1}'),
    env={"TOKEN": "{secret}", "BASE": "{base_url}x"},
    path="/board/",
    options=(
        AppOption("dir", "Folder", OptionType.PATH, "/home/work"),
        AppOption("extra", "Extra"),
        AppOption("every", "Every", OptionType.INTEGER, "30"),
        AppOption("fast", "Fast", OptionType.BOOLEAN, "false"),
        AppOption("how", "How", choices=("a", "b"), default="a"),
    ),
)


def test_no_port_is_left_behind_the_last_one() -> None:
    last = replace(BOARD, port=65535)
    other = AppOfSession(replace(last, name="board-2"), AppSource.CATALOGUE, "board", stored=True)
    with pytest.raises(Conflict) as refused:
        session_apps._free_port(last, [other])
    assert refused.value.code == "app.port_taken"


def test_values_fill_words_and_stay_words() -> None:
    nasty = "$(id); 'x' \"y\" {secret} {port}"
    words = BOARD.words("s3cret", {"dir": nasty})
    assert words == ("board", "--port=6006", f"--dir={nasty}", "", '{"a": 1}')
    assert BOARD.variables("s3cret", {}) == {
        "CARREL_APP_SECRET": "s3cret",
        "TOKEN": "s3cret",
        "BASE": "/board/x",
    }


def test_the_query_of_a_path_is_no_part_of_its_prefix_and_goes_before_the_ticket() -> None:
    one = replace(BOARD, path="/board/?view=all")
    assert one.variables("", {})["BASE"] == "/board/x"
    assert opening.with_ticket("http://a/", one.path, "t") == "http://a/board/?view=all&carrel_ticket=t"
    assert opening.with_ticket("http://a/", "/board/", "t") == "http://a/board/?carrel_ticket=t"


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("nothing", "x", "app.unknown_option"),
        ("every", "soon", "app.bad_option"),
        ("fast", "yes", "app.bad_option"),
        ("how", "c", "app.bad_option"),
        ("dir", "a\0b", "app.bad_option"),
    ],
)
def test_other_options_are_refused(name: str, value: str, code: str) -> None:
    with pytest.raises(Invalid) as refused:
        BOARD.checked({name: value})
    assert refused.value.code == code
    assert BOARD.checked({"every": "5", "fast": "true", "how": "b"})


def test_built_in_apps_are_sound_and_have_ports_of_their_own() -> None:
    known = [template(definition) for definition in app_catalogue.built_in().values()]
    assert len({one.port for one in known}) == len(known)
    for one in known:
        assert one.requires, one.name
        words = one.words("s3cret", {})
        assert not any(app_templates._PLACEHOLDER.search(word) for word in words), words
        assert not any("s3cret" in word for word in words), "other programs of the session see arguments"
