"""Resumable uploads: tus 1.0.0 by its text, and by a client of others."""

import asyncio
import base64
import hashlib
import os
from collections.abc import AsyncIterator
from pathlib import Path

from files_kit import Folder
from installation import Api
from people_kit import status_and_code
from sqlalchemy import text
from tus_kit import BYTES, VERSION, arrived, basic, begun, metadata, patch, staged
from tusclient.client import TusClient


async def test_a_file_arrives_in_pieces(api: Api, data: Folder):
    content = os.urandom(5 << 20)
    upload = await begun(data, "a/b.bin", len(content))
    assert [(u["path"], u["offset_bytes"]) for u in (await data.get("/uploads")).json()["items"]] == [
        ("a/b.bin", 0)
    ]
    first = await patch(data, upload, 0, content[: 3 << 20])
    assert (first.status_code, first.headers["upload-offset"]) == (204, str(3 << 20))
    assert "GMT" in first.headers["upload-expires"]
    assert await data.names() == [], "nothing is seen before it is whole"
    head = await data.ask("HEAD", upload, headers=VERSION)
    assert (head.headers["upload-offset"], head.headers["upload-length"]) == (str(3 << 20), str(5 << 20))
    assert head.headers["upload-metadata"] == metadata("a/b.bin")["Upload-Metadata"]
    wrong = await patch(data, upload, 1, b"x")
    assert (status_and_code(wrong), wrong.headers["tus-resumable"]) == ((409, "upload.offset"), "1.0.0")
    last = await patch(data, upload, 3 << 20, content[3 << 20 :])
    assert (last.status_code, last.headers["carrel-path"]) == (204, "a/b.bin")
    assert ((data.files / "a/b.bin").read_bytes() == content, staged(data)) == (True, [])
    assert (data.files / "a/b.bin").stat().st_uid == 1000
    assert await arrived(data, upload) == len(content), (
        "who did not get the last answer learns that it is done"
    )
    assert (await patch(data, upload, len(content), b"")).status_code == 204
    assert (await data.get("/uploads")).json()["items"] == []
    async with api.database.transaction() as tx:
        rows = await tx.execute(text("SELECT details FROM audit WHERE action = 'file.upload'"))
        (details,) = rows.scalars()
    assert details == {"paths": ["a/b.bin"], "count": 1, "bytes": len(content)}


async def test_headers_that_the_protocol_does_not_know_are_refused(data: Folder):
    length, path = {"Upload-Length": "3"}, metadata("a")
    for headers, status in (
        ({**length, **path}, 412),
        ({**length, **path, "Tus-Resumable": "0.2.2"}, 412),
        ({**VERSION, **path}, 400),
        ({**VERSION, **path, **length, "Upload-Defer-Length": "1"}, 400),
        ({**VERSION, **path, "Upload-Defer-Length": "2"}, 400),
        ({**VERSION, **path, "Upload-Length": "-1"}, 400),
        ({**VERSION, **path, "Upload-Length": "9" * 30}, 400),
        ({**VERSION, **length}, 400),
        ({**VERSION, **length, "Upload-Metadata": "path not-base64!"}, 400),
        ({**VERSION, **length, "Upload-Metadata": "path YQ==,path YQ=="}, 400),
        ({**VERSION, **length, "Upload-Metadata": "path /w=="}, 400),
        ({**VERSION, **length, **metadata("a", clash="never")}, 400),
        ({**VERSION, **length, **path, "Content-Type": "text/plain"}, 415),
        ({**VERSION, **path, "Upload-Concat": "final;"}, 400),
        ({**VERSION, **length, **path, "Upload-Concat": "final;a"}, 400),
        ({**VERSION, **path, "Upload-Concat": "final;nothing"}, 404),
        ({**VERSION, **length, **metadata("../a")}, 422),
        ({**VERSION, **length, **metadata("a\0b")}, 422),
    ):
        answer = await data.post("/uploads", headers=headers)
        assert answer.status_code == status, (headers, answer.text)
        assert (answer.headers["tus-resumable"], answer.headers["tus-version"]) == ("1.0.0", "1.0.0")
    assert staged(data) == []


async def test_pieces_whose_headers_the_protocol_does_not_know_are_refused(data: Folder):
    upload = await begun(data, "a", 3)
    for headers, status in (
        ({"Upload-Offset": "0", **VERSION}, 415),
        (BYTES, 400),
        ({**BYTES, "Upload-Offset": "x"}, 400),
        ({**BYTES, "Upload-Offset": "0", "Tus-Resumable": "2.0.0"}, 412),
        ({**BYTES, "Upload-Offset": "0", "Upload-Checksum": "crc32 AAAA"}, 400),
        ({**BYTES, "Upload-Offset": "0", "Upload-Checksum": "sha1 AAAA"}, 400),
        ({**BYTES, "Upload-Offset": "0", "Upload-Length": "4"}, 409),
    ):
        answer = await data.ask("PATCH", upload, headers=headers, content=b"abc")
        assert answer.status_code == status, (headers, answer.text)
    too_much = await patch(data, upload, 0, b"abcd")
    assert status_and_code(too_much) == (413, "upload.too_large")
    assert await arrived(data, upload) == 0


async def test_the_server_says_what_it_can_do(data: Folder):
    answer = await data.ask("OPTIONS", "/uploads")
    assert answer.status_code == 204
    assert answer.headers["tus-version"] == "1.0.0"
    assert set(answer.headers["tus-extension"].split(",")) == {
        "creation",
        "creation-with-upload",
        "creation-defer-length",
        "termination",
        "checksum",
        "expiration",
        "concatenation",
    }
    assert answer.headers["tus-checksum-algorithm"] == "sha1,sha256,md5"
    assert int(answer.headers["tus-max-size"]) == (1 << 63) - 1


async def test_a_small_file_needs_one_request_and_an_empty_one_no_bytes(data: Folder):
    answer = await data.post(
        "/uploads", headers={**BYTES, "Upload-Length": "3", **metadata("a")}, content=b"abc"
    )
    assert (answer.status_code, answer.headers["upload-offset"], answer.headers["carrel-path"]) == (
        201,
        "3",
        "a",
    )
    part = await data.post(
        "/uploads", headers={**BYTES, "Upload-Length": "6", **metadata("b")}, content=b"abc"
    )
    assert part.headers["upload-offset"] == "3"
    assert (await patch(data, "/" + part.headers["location"], 3, b"def")).status_code == 204
    await begun(data, "empty", 0)
    assert [(data.files / name).read_bytes() for name in ("a", "b", "empty")] == [b"abc", b"abcdef", b""]


async def test_the_length_may_be_said_later_and_not_be_changed(data: Folder):
    upload = await begun(data, "a", None)
    assert (await data.ask("HEAD", upload, headers=VERSION)).headers["upload-defer-length"] == "1"

    async def pieces() -> AsyncIterator[bytes]:
        yield b"abc"
        yield b"def"

    assert (await patch(data, upload, 0, pieces())).headers["upload-offset"] == "6"
    assert status_and_code(await patch(data, upload, 6, b"", Upload_Length="3")) == (409, "upload.length")
    assert (await patch(data, upload, 6, b"g", Upload_Length="8")).headers["upload-offset"] == "7"
    assert status_and_code(await patch(data, upload, 7, b"h", Upload_Length="9")) == (409, "upload.length")
    assert (await patch(data, upload, 7, b"h")).status_code == 204
    assert (data.files / "a").read_bytes() == b"abcdefgh"


async def test_bytes_that_were_garbled_do_not_count(data: Folder):
    upload = await begun(data, "a", 12)
    for at, (name, content) in enumerate((("sha1", b"abcd"), ("sha256", b"efgh"), ("md5", b"ijkl"))):
        right = f"{name} {base64.b64encode(hashlib.new(name, content).digest()).decode()}"
        wrong = await patch(data, upload, at * 4, b"xxxx", Upload_Checksum=right)
        assert (wrong.status_code, wrong.json()["code"]) == (460, "upload.checksum")
        assert (await arrived(data, upload), len(staged(data))) == (at * 4, 1)
        assert (await patch(data, upload, at * 4, content, Upload_Checksum=right)).status_code == 204
    assert ((data.files / "a").read_bytes(), staged(data)) == (b"abcdefghijkl", [])


async def test_parts_that_came_at_once_become_one_file(data: Folder):
    content = os.urandom(300_000)
    parts = []
    for start in (0, 100_000, 200_000):
        headers = {**VERSION, "Upload-Length": "100000", "Upload-Concat": "partial", **metadata("whole")}
        answer = await data.post("/uploads", headers=headers)
        parts.append((start, "/" + answer.headers["location"]))
    listed = (await data.get("/uploads")).json()["items"]
    assert [(each["path"], each["partial"]) for each in listed] == [("whole", True)] * 3
    urls = " ".join(f"/api/v1/vfolders/{data.id}{upload}" for _, upload in parts)
    final = {**VERSION, **metadata("whole"), "Upload-Concat": f"final;{urls}"}
    assert status_and_code(await data.post("/uploads", headers=final)) == (409, "upload.part_unfinished")
    await asyncio.gather(*(patch(data, upload, 0, content[start:][:100_000]) for start, upload in parts))
    head = await data.ask("HEAD", parts[0][1], headers=VERSION)
    assert (head.headers["upload-concat"], head.headers["upload-offset"]) == ("partial", "100000")
    made = await data.post("/uploads", headers=final)
    assert (made.status_code, made.headers["carrel-path"]) == (201, "whole"), made.text
    assert ((data.files / "whole").read_bytes() == content, staged(data)) == (True, [])
    upload = "/" + made.headers["location"]
    head = await data.ask("HEAD", upload, headers=VERSION)
    assert head.headers["upload-concat"].startswith("final;")
    assert (head.headers["upload-offset"], head.headers["upload-length"]) == ("300000", "300000")
    assert status_and_code(await patch(data, upload, 300_000, b"x")) == (403, "upload.final")
    assert (await data.ask("HEAD", parts[0][1], headers=VERSION)).status_code == 404


async def test_an_upload_can_be_given_up_and_is_its_makers_alone(api: Api, data: Folder):
    upload = await begun(data, "a", 6)
    await patch(data, upload, 0, b"abc")
    other = Folder(await api.as_("colleague"), data.id, data.files, data.stage)
    await data.post("/shares", {"users": ["colleague@example.org"], "permission": "rw"})
    (offer,) = (await other.owner.get("/invitations")).json()["items"]
    await other.owner.post(f"/invitations/{offer['id']}/accept")
    assert (await other.ask("HEAD", upload, headers=VERSION)).status_code == 404
    assert status_and_code(await patch(other, upload, 3, b"def")) == (404, "upload.not_found")
    assert (await data.ask("DELETE", upload, headers=VERSION)).status_code == 204
    assert (await data.ask("HEAD", upload, headers=VERSION)).status_code == 404
    assert status_and_code(await data.ask("DELETE", upload, headers=VERSION)) == (404, "upload.not_found")
    assert staged(data) == []


async def test_a_name_that_is_taken_is_asked_about_before_anything_is_sent(data: Folder):
    await data.write("a.txt", b"old")
    (data.files / "d").mkdir()
    for path, clash, code in (
        ("a.txt", "refuse", "file.exists"),
        ("d", "replace", "file.exists"),
        ("a.txt/b", "rename", None),
    ):
        refused = await data.post(
            "/uploads", headers={**VERSION, "Upload-Length": "3", **metadata(path, clash=clash)}
        )
        assert refused.status_code == 409
        assert code is None or refused.json()["code"] == code
    numbered = await begun(data, "a.txt", 3, clash="rename")
    assert (await patch(data, numbered, 0, b"new")).headers["carrel-path"] == "a%20%281%29.txt"
    replacing = await begun(data, "a.txt", 3, clash="replace")
    await patch(data, replacing, 0, b"new")
    assert [(data.files / name).read_bytes() for name in ("a.txt", "a (1).txt")] == [b"new", b"new"]
    late = await begun(data, "late", 3)
    await data.write("late", b"first")
    assert status_and_code(await patch(data, late, 0, b"abc")) == (409, "file.exists")
    assert (data.files / "late").read_bytes() == b"first"


async def test_other_methods_come_in_the_clothes_of_post(data: Folder):
    upload = await begun(data, "a", 3)
    headers = {**BYTES, "Upload-Offset": "0", "X-HTTP-Method-Override": "PATCH"}
    assert (await data.post(upload, headers=headers, content=b"ab")).headers["upload-offset"] == "2"
    assert (await data.post(upload, headers={**VERSION, "X-HTTP-Method-Override": "HEAD"})).status_code == 200
    assert (await data.post(upload, headers=VERSION)).status_code == 400
    assert (
        await data.post(upload, headers={**VERSION, "X-HTTP-Method-Override": "DELETE"})
    ).status_code == 204


def tuspy(api: Api, data: Folder, auth: str) -> TusClient:
    return TusClient(f"{api.url}/api/v1/vfolders/{data.id}/uploads", headers={"Authorization": auth})


async def test_a_client_of_others_uploads_and_goes_on(api: Api, data: Folder, tmp_path: Path):
    content = os.urandom(1_000_003)
    (tmp_path / "source").write_bytes(content)
    client = tuspy(api, data, await basic(api, data))

    def some() -> str:
        uploader = client.uploader(
            str(tmp_path / "source"), chunk_size=100_000, metadata={"path": "dir/é.bin"}
        )
        uploader.upload_chunk()
        uploader.upload_chunk()
        return str(uploader.url)

    def rest(url: str) -> int:
        uploader = client.uploader(
            str(tmp_path / "source"), chunk_size=300_000, url=url, upload_checksum=True
        )
        began = uploader.offset
        uploader.upload()
        return int(began)

    url = await asyncio.to_thread(some)
    assert await asyncio.to_thread(rest, url) == 200_000
    assert (data.files / "dir/é.bin").read_bytes() == content
