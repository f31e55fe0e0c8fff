"""An upload whose bytes all arrived but whose file is not in its place: no client takes it for a success."""

import asyncio
import json
import shutil
import subprocess
from pathlib import Path
from urllib.parse import unquote

import pytest
from files_kit import Folder
from installation import Api
from people_kit import status_and_code
from tus_kit import VERSION, basic, begun, metadata, patch

WEB = Path(__file__).parents[4] / "web"
TUS = """
import { Upload } from "tus-js-client";
const [url, authorization, content] = process.argv.slice(1);
new Upload(Buffer.from(content), {
  uploadUrl: url,
  headers: { authorization },
  retryDelays: null,
  onSuccess: () => console.log(JSON.stringify({ success: true })),
  onError: ({ originalResponse: answer }) =>
    console.log(JSON.stringify({ status: answer?.getStatus(), body: answer?.getBody() })),
}).start();
"""


async def offset(data: Folder, upload: str) -> str | None:
    answer = await data.ask("HEAD", upload, headers=VERSION)
    assert answer.status_code == 200, answer.text
    return answer.headers.get("upload-offset")  # type: ignore[no-any-return]


async def refused_at_the_end(data: Folder) -> str:
    """An upload of `abcdef` to a place that another file has taken meanwhile."""
    upload = await begun(data, "a", 6)
    (data.files / "a").write_bytes(b"old")
    assert status_and_code(await patch(data, upload, 0, b"abcdef")) == (409, "file.exists")
    return upload


async def test_an_upload_that_was_refused_at_the_end_is_not_complete(data: Folder):
    upload = await refused_at_the_end(data)
    for _ in range(2):
        assert await offset(data, upload) == "5"
        assert status_and_code(await patch(data, upload, 5, b"f")) == (409, "file.exists")
    (listed,) = (await data.get("/uploads")).json()["items"]
    assert (listed["offset_bytes"], listed["length_bytes"]) == (5, 6)
    assert (data.files / "a").read_bytes() == b"old"


@pytest.mark.parametrize(("at", "rest"), [(6, b""), (5, b"f")])
async def test_it_is_finished_by_no_bytes_or_by_the_last_one(data: Folder, at: int, rest: bytes):
    upload = await refused_at_the_end(data)
    (data.files / "a").unlink()
    done = await patch(data, upload, at, rest)
    assert (done.status_code, done.headers["upload-offset"]) == (204, "6"), done.text
    assert await offset(data, upload) == "6"
    assert (data.files / "a").read_bytes() == b"abcdef"


@pytest.mark.parametrize(("clash", "got", "left"), [("replace", "a", b"abcdef"), ("rename", "a (1)", b"old")])
async def test_its_last_byte_can_say_what_becomes_of_the_other_file(
    data: Folder, clash: str, got: str, left: bytes
):
    upload = await refused_at_the_end(data)
    assert status_and_code(await patch(data, upload, 5, b"f", Carrel_Clash="never")) == (400, "upload.header")
    done = await patch(data, upload, 5, b"f", Carrel_Clash=clash)
    assert (done.status_code, unquote(done.headers["carrel-path"])) == (204, got), done.text
    assert (data.files / got).read_bytes() == b"abcdef"
    assert (data.files / "a").read_bytes() == left


async def test_a_last_byte_that_is_garbled_does_not_count(data: Folder):
    upload = await refused_at_the_end(data)
    (data.files / "a").unlink()
    wrong = await patch(data, upload, 5, b"x", Upload_Checksum="sha1 AAAAAAAAAAAAAAAAAAAAAAAAAAA=")
    assert status_and_code(wrong) == (460, "upload.checksum")
    assert await offset(data, upload) == "5"
    assert (await patch(data, upload, 5, b"f")).status_code == 204
    assert (data.files / "a").read_bytes() == b"abcdef"


async def test_an_empty_upload_is_complete_only_in_its_place(data: Folder):
    upload = await begun(data, "a", None)
    (data.files / "a").write_bytes(b"old")
    assert status_and_code(await patch(data, upload, 0, b"", Upload_Length="0")) == (409, "file.exists")
    head = await data.ask("HEAD", upload, headers=VERSION)
    assert (head.headers["upload-offset"], head.headers["upload-defer-length"]) == ("0", "1")
    assert "upload-length" not in head.headers
    (data.files / "a").unlink()
    assert (await patch(data, upload, 0, b"", Upload_Length="0")).status_code == 204
    assert (await data.ask("HEAD", upload, headers=VERSION)).headers["upload-length"] == "0"


async def test_a_part_that_arrived_is_complete(data: Folder):
    headers = {**VERSION, "Upload-Concat": "partial", "Upload-Length": "3", **metadata("a")}
    part = "/" + (await data.post("/uploads", headers=headers)).headers["location"]
    assert (await patch(data, part, 0, b"abc")).status_code == 204
    assert await offset(data, part) == "3"


@pytest.mark.parametrize("free", [False, True])
async def test_the_client_of_browsers_reports_what_became_of_it(api: Api, data: Folder, free: bool):
    node = shutil.which("node")
    if not node or not (WEB / "node_modules" / "tus-js-client").is_dir():
        pytest.skip("there is no node, or the page's packages are not installed")
    upload = await refused_at_the_end(data)
    if free:
        (data.files / "a").unlink()
    url = f"{api.url}/api/v1/vfolders/{data.id}{upload}"
    command = [node, "--input-type=module", "-e", TUS, url, await basic(api, data), "abcdef"]
    ran = await asyncio.to_thread(
        subprocess.run, command, cwd=WEB, check=True, capture_output=True, timeout=120
    )
    outcome = json.loads(ran.stdout)
    if free:
        assert outcome == {"success": True}
        assert (data.files / "a").read_bytes() == b"abcdef"
    else:
        assert (outcome["status"], json.loads(outcome["body"])["code"]) == (409, "file.exists")
        assert (data.files / "a").read_bytes() == b"old"
