"""What labels and variables say about an image."""

import pytest

from carrel.images.labels import DeclaredApp, ImageLabels, parse


def test_an_image_without_labels_says_nothing() -> None:
    assert parse({}) == ImageLabels()


def test_own_labels_declare_apps_and_slots() -> None:
    parsed = parse(
        {
            "carrel.title": "Lab",
            "carrel.min_cpu": "0.1",
            "carrel.min_mem": "256m",
            "carrel.apps": '[{"name": "notes", "port": 8888, "command": ["run"], "path": "/lab", "ready": "/api"}]',
        }
    )
    assert parsed.title == "Lab"
    assert parsed.min_slots == {"cpu": 100, "mem": 256 << 20}
    assert parsed.apps == (DeclaredApp("notes", "notes", "http", 8888, ("run",), "/lab", "/api"),)


def test_labels_of_backend_ai_are_understood() -> None:
    parsed = parse(
        {
            "ai.backend.service-ports": "jupyter:http:8081,board:preopen:[6006,6007],db:preopen:5432",
            "ai.backend.resource.min.cpu": "2",
            "ai.backend.resource.min.mem": "1g",
            "ai.backend.resource.min.cuda.shares": "0.5",
            "ai.backend.resource.min.cuda.device": "0",
            "ai.backend.accelerators": "cuda,rocm",
            "ai.backend.base-distro": "ubuntu22.04",
            "ai.backend.runtime-type": "python",
        }
    )
    assert parsed.min_slots == {"cpu": 2000, "mem": 1 << 30, "cuda.shares": 500}
    # Only what the image starts itself: how the others are started is not in its labels.
    assert [(app.name, app.port, app.command) for app in parsed.apps] == [
        ("board", 6006, ()),
        ("db", 5432, ()),
    ]
    assert parsed.services == ("jupyter",)
    assert parsed.accelerators == ("cuda", "rocm")
    assert (parsed.distribution, parsed.runtime) == ("ubuntu22.04", "python")


def test_own_labels_count_more() -> None:
    parsed = parse(
        {
            "ai.backend.service-ports": "board:preopen:6006",
            "ai.backend.resource.min.mem": "1g",
            "carrel.apps": '[{"name": "board", "title": "Board", "protocol": "http", "port": 6007}]',
            "carrel.min_mem": "2g",
        }
    )
    assert [(app.name, app.port) for app in parsed.apps] == [("board", 6007)]
    assert parsed.min_slots == {"mem": 2 << 30}


@pytest.mark.parametrize(
    "labels",
    [
        {"carrel.apps": "{"},
        {"carrel.apps": '{"name": "x"}'},
        {"carrel.apps": '[{"name": "x", "port": 80, "path": "@example.org"}]'},
        {"carrel.apps": '[{"name": "x"}, 3, {"name": "y", "port": "no"}]'},
        {"carrel.min_mem": "much"},
        {"ai.backend.service-ports": "jupyter,board:http,x:http:99999,:::,[,"},
        {"ai.backend.resource.min.cpu": "some"},
    ],
)
def test_labels_that_mean_nothing_are_ignored(labels: dict[str, str]) -> None:
    parsed = parse(labels)
    assert parsed.apps == ()
    assert parsed.min_slots == {}
