"""Dockerfiles of users: what an engine is given, and what is refused."""

import pytest

from carrel.builds import dockerfile
from carrel.core.errors import Invalid
from carrel.engines.optional import BuildMarks

MARKS = BuildMarks("LABEL mark", "LABEL image")


def rendered(text: str, images: dict[str, str] | None = None) -> list[str]:
    file = dockerfile.read(text)
    given = file.render(images or {}, marks=MARKS, files=["COPY ca /ca"], arguments=["ARG INDEX"])
    *lines, last = given.splitlines()
    assert last == MARKS.image
    return lines


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
    images = {"debian:12": "docker.io/library/debian:12", "registry.example.org/tools:1": "mirror/tools:1"}
    assert rendered(text, images) == [
        "ARG TAG=12",
        'ARG BASE="debian:${TAG}"',
        "FROM docker.io/library/debian:12 AS carrel-stage-0",
        MARKS.stage,
        "COPY ca /ca",
        "ARG INDEX",
        "RUN apt-get update &&             apt-get install -y git",
        "FROM carrel-stage-0 AS carrel-stage-1",
        "ARG INDEX",
        "COPY --from=carrel-stage-0 /a /a",
        "COPY --from=mirror/tools:1 /b /b",
        'CMD ["bash"]',
    ]


def test_nothing_is_added_to_scratch_but_the_marks() -> None:
    file = dockerfile.read("FROM golang AS b\nFROM scratch\nCOPY --from=0 /x /x")
    assert (file.images, file.below) == (("golang",), None)
    assert rendered("FROM scratch\nCOPY x /x") == ["FROM scratch AS carrel-stage-0", MARKS.stage, "COPY x /x"]


def test_a_stage_that_is_named_as_its_image_is_still_a_stage() -> None:
    lines = rendered(
        "FROM a AS a\nFROM b AS a\nFROM a\nCOPY --from=0 /x /x", {"a": "registry/a:1", "b": "b:1"}
    )
    assert [line for line in lines if line.startswith(("FROM", "COPY --from"))] == [
        "FROM registry/a:1 AS carrel-stage-0",
        "FROM b:1 AS carrel-stage-1",
        "FROM carrel-stage-1 AS carrel-stage-2",
        "COPY --from=carrel-stage-0 /x /x",
    ]


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
        ("FROM a\nADD http://169.254.169.254/latest /x", "ADD is not supported"),
        ("FROM a\nVOLUME /x", "VOLUME is not supported"),
        ('FROM a\nCOPY --chown="${U:+a b}0" --from=secret / /x', "COPY --chown is not supported so"),
        ("FROM a\nCOPY --from=a --from=b / /x", "same option twice"),
        ("FROM a\nCOPY --from=\u00b2 / /x", "COPY --from is not supported so"),
        ('FROM a\nRUN [ 1 ] <<"RUN x"\nFROM scratch AS cafe\nRUN x\nFROM cafe', "Here-documents"),
        ("FROM a\nRUN cat <<1", "Here-documents"),
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
