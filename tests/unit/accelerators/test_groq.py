"""GroqCards: what is discovered from files and tsp-ctl, right or broken, and what containers get."""

import json
import shutil
from pathlib import Path

import pytest
from simulated_accelerators import driver, tree

from carrel.accelerators.driver import Card
from carrel.accelerators.groq import Groq
from carrel.accelerators.hardware import Machine
from carrel.accelerators.port import Attachment, Device, DeviceNode, DeviceState, MachinePath

HEALTH = "tools/tsp-ctl/health-check"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tree(tmp_path, "groqcardx4")


def states_after(root: Path, answer: object) -> list[str]:
    """The problems of all cards after this answer of the tool."""
    text = answer if isinstance(answer, str) else "Health-check of 4 devices\n" + json.dumps(answer)
    (root / HEALTH).write_text(text)
    return [state.problem for state in driver(Groq(), root).states()]


def entry(status: object, **more: object) -> dict[str, object]:
    return {"Summary": {"tsp_status": status}, **more}


def test_a_card_is_what_the_kernel_says_and_nothing_of_it_is_measured(root: Path):
    assert driver(Groq(), root).states()[2] == DeviceState(
        Device("0000:1a:00.0", "groq", "GroqCard GC1-010B", set=1, pci="0000:1a:00.0", numa=1)
    )


def test_a_container_gets_its_file_and_the_runtime_of_the_machine(root: Path):
    cards = driver(Groq(), root)
    assert cards.attach({"0000:19:00.0": 1000}).paths == (MachinePath(f"{root}/dev/groqA1", "/dev/groqA1"),)
    real = [Card(Device("0000:01:00.0", "groq"), handle="5", nodes=("/dev/groqA5",), groups=(7,))]
    assert Groq().attach(real, Machine()) == Attachment(
        nodes=(DeviceNode("/dev/groqA5"),),
        paths=(MachinePath("/opt/groq/runtime", "/opt/groq/runtime"),),
        groups=(7,),
    )


LISTED = "tsp-ctl does not list it."
NO_JSON = "tsp-ctl did not print JSON."


@pytest.mark.parametrize(
    ("answer", "problems"),
    [
        ([entry("Up")] * 4, [""] * 4),
        ([entry(" up ")] * 3 + [entry("Down")], ["", "", "", "Its state is: Down."]),
        ([entry("Up")] * 3, [LISTED] * 4),
        ({f"/dev/groqA{number}": entry("Up") for number in (0, 2, 3)}, ["", LISTED, "", ""]),
        (
            [entry("Up", device=f"groqA{number}") for number in (3, 2, 0)]
            + [entry("Error", device="groqA1")],
            ["", "Its state is: Error.", "", ""],
        ),
        ([entry(None)] * 4, ["Its state is: unknown."] * 4),
        ([entry("")] * 4, ["Its state is: unknown."] * 4),
        ([], [LISTED] * 4),
        ({}, [LISTED] * 4),
        ([{"Summary": "Up"}, 7, None, {}], [LISTED] * 4),
        ("No devices found.\n", [NO_JSON] * 4),
        ("", [NO_JSON] * 4),
        ("Health-check\n[{", [NO_JSON] * 4),
    ],
)
def test_the_state_of_a_card_is_that_of_its_file_or_else_of_its_place(
    root: Path, answer: object, problems: list[str]
):
    assert states_after(root, answer) == problems


def test_a_tool_that_hangs_or_is_missing_is_a_problem(root: Path):
    (root / f"{HEALTH}.hangs").touch()
    assert driver(Groq(), root).states()[0].problem == "tsp-ctl did not end within 5 s."
    shutil.rmtree(root / "tools")
    assert driver(Groq(), root).states()[0].problem == "tsp-ctl is not installed."


def test_without_the_runtime_no_card_is_offered(root: Path):
    shutil.rmtree(root / "opt/groq/runtime")
    assert {state.problem for state in driver(Groq(), root).states()} == {"/opt/groq/runtime is missing."}


def test_the_tool_is_run_from_the_runtime(root: Path):
    tool = root / "opt/groq/runtime/site-packages/bin/tsp-ctl"
    tool.parent.mkdir(parents=True)
    tool.write_text('#!/bin/sh\necho "Health-check"\necho \'[{"Summary": {"tsp_status": "Up"}}]\'\n')
    tool.chmod(0o755)
    assert Machine(root, tool_s=30).run("tsp-ctl", "health-check").startswith("Health-check\n[")


def test_a_card_that_falls_off_and_leaves_a_gap_keeps_the_files_of_the_others(root: Path):
    cards = driver(Groq(), root)
    assert len(cards.discover()) == 4
    shutil.rmtree(root / "sys/bus/pci/devices/0000:19:00.0")
    (root / "dev/groqA1").unlink()
    assert [len(cards.discover()) for _ in range(3)] == [4, 4, 3]
    assert cards.attach({"0000:1a:00.0": 1000}).paths == (MachinePath(f"{root}/dev/groqA2", "/dev/groqA2"),)
