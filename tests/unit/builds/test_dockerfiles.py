"""Dockerfiles of users: what an engine is given, and what is refused."""

import pytest

from carrel.builds import dockerfile
from carrel.core.errors import Invalid

MARKS = "LABEL mark"


def rendered(text: str, images: dict[str, str] | None = None) -> list[str]:
    file = dockerfile.read(text)
    given = file.render(images or {}, marks=MARKS, files=["COPY ca /ca"], arguments=["ARG INDEX"])
    return given.splitlines()


def test_each_instruction_becomes_one_line_and_images_are_named_as_they_were_resolved() -> None:
    text = """
        # a comment
        ARG TAG=12
        ARG BASE="debian:${TAG}"
        from $BASE as Build
        run apt-get update && \\
            # within
            apt-get install -y git
        FROM build
        COPY --from=BUILD /a /a
        COPY --from=registry.example.org/tools:1 /b /b
        CMD ["bash"]
    """
    file = dockerfile.read(text)
    assert file.images == ("debian:12", "registry.example.org/tools:1")
    assert file.below == "debian:12"
    assert rendered(text, {"debian:12": "docker.io/library/debian:12"}) == [
        "ARG TAG=12",
        'ARG BASE="debian:${TAG}"',
        "FROM docker.io/library/debian:12 AS build",
        MARKS,
        "COPY ca /ca",
        "ARG INDEX",
        "RUN apt-get update &&             apt-get install -y git",
        "FROM build",
        "ARG INDEX",
        "COPY --from=build /a /a",
        "COPY --from=registry.example.org/tools:1 /b /b",
        'CMD ["bash"]',
    ]


def test_nothing_is_added_to_scratch_but_the_marks() -> None:
    file = dockerfile.read("FROM golang AS b\nFROM scratch\nCOPY --from=0 /x /x")
    assert (file.images, file.below) == (("golang",), None)
    assert rendered("FROM scratch\nCOPY x /x") == ["FROM scratch", MARKS, "COPY x /x"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("RUN true", "before the first FROM"),
        ("", "no FROM"),
        ("# syntax=docker/dockerfile:1\nFROM a", "syntax"),
        ("FROM a\n# escape=`\nRUN true", "escape"),
        ("FROM $BASE", "no value"),
        ("ARG BASE\nFROM $BASE", "no value"),
        ("FROM a\nARG BASE=b\nFROM $BASE", "no value"),
        ("ARG A=x\nFROM ${A%x}", "cannot be resolved"),
        ("ARG A=x\nFROM \\$A", "cannot be resolved"),
        ("FROM --platform=linux/arm64 a", "--platform"),
        ("FROM a AS x y", "FROM IMAGE"),
        ("FROM a AS ../x", "FROM IMAGE"),
        ("FROM a\nRUN --mount=type=secret,id=x cat /x", "--mount"),
        ("FROM a\nRUN --network=host true", "--network"),
        ("FROM a\nRUN cat <<EOF\nFROM b\nEOF", "Here-documents"),
        ("FROM a\nCOPY <<EOF /x\nEOF", "Here-documents"),
        ("FROM a\nCOPY --from=$X /a /b", "variables"),
        ("FROM a\nCOPY --from=0 /a /b", "no stage 0"),
        ("FROM a\nCOPY --chmod=755 a /b", "--chmod"),
        ("FROM a\nADD http://169.254.169.254/latest /x", "ADD takes only files"),
        ("FROM a\nARG U=http://x\nADD $U /x", "ADD takes only files"),
        ("FROM a\nADD --checksum=sha256:1 x /x", "ADD has only"),
        ("FROM a\nONBUILD RUN true", "ONBUILD"),
        ("FROM a\nINCLUDE x", "no instruction"),
        ('FROM a\nLABEL car"rel.com"mit=x', "LABEL"),
        ("FROM a\nLABEL carrel.id=x", "LABEL"),
        ("FROM a\nRUN a\rFROM b", "control character"),
        ("FROM a\nRUN", "nothing after it"),
        ("FROM a\n" * 21, "more than 20 stages"),
        ("FROM a\nRUN " + "x" * 70_000, "64 KiB"),
    ],
)
def test_what_a_builder_would_take_in_another_way_is_refused(text: str, reason: str) -> None:
    with pytest.raises(Invalid) as refused:
        dockerfile.read(text)
    assert refused.value.code == "build.bad_dockerfile"
    assert reason in refused.value.message
    assert refused.value.hint
