"""What `carrel status` says about the app layer."""

import pytest

from carrel.server.status import LayerSeen, StatusLine, _layer


@pytest.mark.parametrize(
    ("seen", "line"),
    [
        (
            LayerSeen("local", "localhost/carrel/app-layer:12", "BUILDING", "installing (step 3 of 9)"),
            StatusLine("app layer", "building", "12", "installing (step 3 of 9)"),
        ),
        (
            LayerSeen("rack2", "localhost/carrel/app-layer:12", "READY", ""),
            StatusLine("app layer rack2", "ok", "12", ""),
        ),
        (
            LayerSeen("local", "localhost/carrel/app-layer:12", "FAILED", "No registry answers."),
            StatusLine(
                "app layer",
                "failed",
                "12",
                "No registry answers. Sessions start without it. To try again: carrel engine check local",
            ),
        ),
    ],
)
def test_the_state_of_a_layer_is_shown_and_how_to_try_again(seen: LayerSeen, line: StatusLine) -> None:
    assert _layer(seen) == line
