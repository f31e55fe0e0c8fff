"""Which entries of a tar of a container's files an image of it gets."""

import io
import tarfile
from collections.abc import Sequence

import pytest

from carrel.engines.docker.changed_files import ChangedFiles, changed_files
from carrel.engines.docker.tar_filter import END, TarFilter

LONG = "home/work/" + "deep/" * 40 + "file"


def archive(*entries: tuple[str, bytes | str], form: int = tarfile.PAX_FORMAT) -> bytes:
    """A tar of files; of hard links where the content is a name."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as tar:
        for name, content in entries:
            info = tarfile.TarInfo(name)
            if isinstance(content, str):
                info.type, info.linkname = tarfile.LNKTYPE, content
                tar.addfile(info)
            else:
                info.size, info.mode, info.uid = len(content), 0o640, 1000
                tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def filtered(files: ChangedFiles, tar: bytes, *, chunk: int = 100) -> dict[str, bytes]:
    """What is written of the tar, read in chunks: contents by path."""
    written = b""
    for choose in (files.chosen, files.linked):
        passed = TarFilter(choose)
        for start in range(0, len(tar), chunk):
            written += b"".join(passed.feed(tar[start : start + chunk]))
    written += b"".join(files.further_links()) + END
    with tarfile.open(fileobj=io.BytesIO(written)) as result:
        contents = {}
        for member in result:
            reader = result.extractfile(member)
            contents[member.name] = reader.read() if reader else b""
            assert member.islnk() or (member.mode, member.uid) == (0o640, 1000)
        return contents


def changes(*paths: str, kind: int = 1) -> Sequence[dict[str, object]]:
    return [{"Path": f"/{path}", "Kind": kind} for path in paths]


@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])
@pytest.mark.parametrize("chunk", [1, 511, 512, 1 << 20])
def test_only_what_was_changed_and_is_not_left_out_is_written(form: int, chunk: int) -> None:
    tar = archive(
        ("etc/base", b"below"),
        (LONG, b"x" * 1500),
        ("home/work/empty", b""),
        ("tmp/token", b"hunter2"),
        ("home/work/.ssh/id", b"hunter2"),
        ("home/work/.sshd", b"kept"),
        form=form,
    )
    changed = changes(LONG, "home/work/empty", "tmp/token", "home/work/.ssh/id", "home/work/.sshd")
    files = changed_files(changed, None, ["/tmp", "/home/work/.ssh"])
    assert filtered(files, tar, chunk=chunk) == {
        LONG: b"x" * 1500,
        "home/work/empty": b"",
        "home/work/.sshd": b"kept",
    }


def test_a_file_of_a_cache_is_kept_under_its_other_names() -> None:
    tar = archive(
        ("home/work/.cache/one", b"package"),
        ("home/work/.cache/two", b"unused"),
        ("home/work/lib/one", "home/work/.cache/one"),
        ("home/work/lib/same", "home/work/.cache/one"),
    )
    names = ("home/work/.cache/one", "home/work/.cache/two", "home/work/lib/one", "home/work/lib/same")
    files = changed_files(changes(*names), None, ["/home/work/.cache"])
    assert filtered(files, tar) == {"home/work/lib/one": b"package", "home/work/lib/same": b"package"}


def test_what_changed_while_it_was_copied_is_written_and_only_earlier_deletions_count() -> None:
    before = [*changes("a"), *changes("old", "tmp/old", kind=2)]
    files = changed_files(before, [*changes("a", "b"), *changes("later", kind=2)], ["/tmp"])
    assert files.deleted == ["/old"]
    assert filtered(files, archive(("a", b"1"), ("b", b"2"), ("later", b"3"), ("c", b"4"))) == {
        "a": b"1",
        "b": b"2",
        "later": b"3",
    }
