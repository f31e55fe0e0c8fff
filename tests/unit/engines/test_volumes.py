"""Locations: where a directory is for the containers of an engine."""

from pathlib import PurePosixPath

import pytest

from carrel.engines.port import Mount, MountUnusable, Volume
from carrel.engines.volumes import Location, parse, require_directories


@pytest.mark.parametrize(
    ("text", "location"),
    [
        ("/mnt/folders", Location(PurePosixPath("/mnt/folders"))),
        ("/mnt/a?b#c", Location(PurePosixPath("/mnt/a?b#c"))),
        ("volume://team", Location(PurePosixPath("/"), Volume("volume", "team"))),
        ("volume://team/a/b/", Location(PurePosixPath("/a/b"), Volume("volume", "team"))),
        ("nfs://Filer.example/x", Location(PurePosixPath("/x"), Volume("nfs", "Filer.example"))),
        ("nfs://[fd00::1]/x", Location(PurePosixPath("/x"), Volume("nfs", "[fd00::1]"))),
        (
            "csi://efs.csi.aws.com/in?fileSystemId=fs-1&a=%20",
            Location(
                PurePosixPath("/in"), Volume("csi", "efs.csi.aws.com", (("a", " "), ("fileSystemId", "fs-1")))
            ),
        ),
    ],
)
def test_a_location_is_a_path_or_a_directory_of_a_volume(text: str, location: Location) -> None:
    assert parse(text) == location


@pytest.mark.parametrize(
    "text",
    [
        "folders",
        "volume://",
        "volume://Team",
        "volume:team",
        "volume://team/../other",
        "volume://team?a=b",
        "volume://team#a",
        "nfs://filer",
        "nfs:///export",
        "nfs://user@filer/export",
        "csi://driver:9/x",
        "smb://filer/share",
        "/mnt/../etc",
        "nfs://[fd00::1/x",
        "/mnt/\0",
    ],
)
def test_anything_else_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=r"^[^ ]+ .+\.$"):
        parse(text)


def test_a_part_of_a_location_is_mounted() -> None:
    there = parse("volume://team/folders")
    assert there.mount(PurePosixPath("user-1/a/files"), "/data", subpath="x", read_only=True) == Mount(
        "/folders/user-1/a/files", "/data", "x", read_only=True, volume=Volume("volume", "team")
    )


def test_an_engine_without_volumes_refuses_them() -> None:
    require_directories([Mount("/a", "/b")])
    with pytest.raises(MountUnusable):
        require_directories([Mount("/a", "/b"), Mount("/a", "/c", volume=Volume("nfs", "filer"))])
