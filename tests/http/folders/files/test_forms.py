"""Many small files as a web form: what a browser makes of a directory that was chosen."""

import json
import os

import httpx2
import pytest
from files_kit import Folder, folder
from installation import Api
from people_kit import status_and_code


@pytest.fixture
async def data(api: Api, tmp_path_factory: pytest.TempPathFactory) -> Folder:
    return await folder(api, root=tmp_path_factory.mktemp("disk") / "fast")


def form(about: object, *contents: bytes) -> list[tuple[str, tuple[str | None, bytes]]]:
    files = [("file", (f"{number}.bin", content)) for number, content in enumerate(contents)]
    return [("files", (None, json.dumps(about).encode())), *files]


def at(*paths: str) -> list[dict[str, object]]:
    return [{"path": path, "modified": 1_700_000_000.25} for path in paths]


async def send(data: Folder, fields: object, **query: str) -> httpx2.Response:
    return await data.ask("POST", "/files/unpack", params=query, files=fields)


async def test_the_files_of_a_form_are_put_where_it_says_and_what_cannot_be_is_named(data: Folder):
    (data.files / "to").mkdir()
    (data.files / "to" / "taken").write_bytes(b"old")
    os.chown(data.files / "to", 1000, 1000)
    paths = ['ü/"a"\n%22', "empty", "taken", "../out", "/".join(["n" * 200] * 10)]
    contents = [b"\r\n--\0" * 900, b"", b"new", b"z", b"long"]
    answer = await send(data, form(at(*paths), *contents), path="to")
    assert answer.status_code == 200, answer.text
    done = answer.json()
    assert done["paths"] == [f"to/{path}" for path in (paths[0], paths[1], paths[4])]
    assert {one["path"]: one["code"] for one in done["refused"]} == {
        "taken": "file.exists",
        "../out": "file.path",
    }
    for path, content in ((paths[0], contents[0]), (paths[1], b""), (paths[4], b"long"), ("taken", b"old")):
        assert (data.files / "to" / path).read_bytes() == content
    written = (data.files / "to" / paths[0]).stat()
    assert written.st_mtime_ns == 1_700_000_000_250_000_000
    replaced = await send(data, form(at("taken"), b"new"), path="to", clash="replace")
    assert (replaced.json()["paths"], (data.files / "to" / "taken").read_bytes()) == (["to/taken"], b"new")


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param(form(at("a", "b"), b"one"), id="fewer files than it says"),
        pytest.param(form(at("a"), b"one", b"two"), id="more files than it says"),
        pytest.param(form([{"path": "a\0"}], b"one"), id="a path that no file has"),
        pytest.param(form([{"path": "a", "modified": -1}], b"one"), id="a time that no file has"),
        pytest.param(form("a", b"one"), id="no list"),
        pytest.param(form(at("a"), b"one")[1:], id="no list at all"),
        pytest.param(form(at(*map(str, range(1001))), *[b""] * 1001), id="too many files"),
    ],
)
async def test_a_form_that_contradicts_itself_is_refused_as_a_whole(data: Folder, fields: object):
    assert status_and_code(await send(data, fields)) == (422, "invalid.request")
    assert os.listdir(data.files) == []


@pytest.mark.parametrize("cut", [10, 150, 400])
async def test_what_is_not_all_of_a_form_is_refused(data: Folder, cut: int):
    request = httpx2.Request("POST", "http://a", files=form(at("a"), b"x" * 500))
    headers = {"Content-Type": request.headers["content-type"]}
    body = request.read()[:cut]
    answer = await data.ask("POST", "/files/unpack", content=body, headers=headers)
    assert status_and_code(answer) == (422, "invalid.request")
    for kind in (
        "multipart/form-data",
        "multipart/form-data; boundary=ü",
        'multipart/form-data; boundary=""',
    ):
        answer = await data.ask(
            "POST", "/files/unpack", content=body, headers={"Content-Type": kind.encode("latin-1")}
        )
        assert status_and_code(answer) == (422, "invalid.request")
    assert os.listdir(data.files) == []


async def test_a_form_that_is_too_large_or_does_not_say_how_large_is_refused(data: Folder):
    assert status_and_code(await send(data, form(at("a"), bytes(1 << 20)))) == (413, "file.too_large")

    async def unannounced():
        yield b"x"

    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    answer = await data.ask("POST", "/files/unpack", content=unannounced(), headers=headers)
    assert status_and_code(answer) == (413, "file.too_large")
