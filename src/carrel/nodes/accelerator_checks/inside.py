"""What containers see of devices, and what that means. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from carrel.nodes.accelerator_checks.schemas import CheckedAspect, CheckedAspectView
from carrel.tables.accelerator_checks import CheckedOutcome

FILES = (
    "sh",
    "-c",
    "for f in /dev/* /dev/*/* /dev/*/*/*; do"
    ' if [ -L "$f" ]; then :;'
    ' elif [ -c "$f" ]; then stat -c \'c%t:%T %n\' "$f";'
    ' elif [ -f "$f" ]; then stat -c \'f%d:%i %n\' "$f"; fi; done 2>/dev/null',
)
"""Prints a line for each device file: what it is, by its numbers, and its path. The files of simulated machines are
plain ones."""
VARIABLES = ("env",)
LISTING: Mapping[str, tuple[tuple[str, ...], str]] = {
    "cuda": (("nvidia-smi", "-L"), "GPU "),
    "gaudi2": (("hl-smi", "-Q", "uuid", "-f", "csv,noheader"), ""),
    "gaudi3": (("hl-smi", "-Q", "uuid", "-f", "csv,noheader"), ""),
}
"""Tools that containers may have, by family, and how a line for one device begins."""
_FROM_ZERO = ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")
_OF_EACH_CONTAINER = frozenset({"HOSTNAME", "PWD", "OLDPWD", "SHLVL", "_"})
_SHOWN = 8


@dataclass(frozen=True)
class Seen:
    """What a container sees. files: path -> what it is, by its numbers. listed: devices that the vendor's tool lists;
    None: the tool is not there.
    """

    files: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    listed: int | None = None
    tool: str = ""

    def beyond(self, baseline: "Seen") -> "Seen":
        """What is not in the baseline, which is a container without devices."""
        common = set(baseline.files.values())
        files = {path: what for path, what in self.files.items() if what not in common}
        variables = {
            name: value
            for name, value in self.variables.items()
            if baseline.variables.get(name) != value and name not in _OF_EACH_CONTAINER
        }
        return Seen(files, variables, self.listed, self.tool)


def files_of(output: str) -> Mapping[str, str]:
    """The answer to FILES: path -> what it is."""
    lines = (line.partition(" ") for line in output.splitlines())
    return {path: what for what, _, path in lines if path.startswith("/dev/")}


def variables_of(output: str) -> Mapping[str, str]:
    """The answer to VARIABLES."""
    pairs = (line.partition("=") for line in output.splitlines())
    return {name: value for name, equals, value in pairs if equals and name.isidentifier()}


def listed_in(output: str, begins: str) -> int:
    """The number of devices in the answer of a vendor's tool."""
    return sum(line.startswith(begins) for line in output.splitlines() if line.strip())


def judge(granted: Mapping[str, Seen]) -> Mapping[str, list[CheckedAspectView]]:
    """granted: by device, what its container has beyond the baseline. All containers exist at the same time."""
    return {
        device: [
            _granted(seen),
            _isolated(device, granted),
            _numbered(seen),
            _counted(seen),
        ]
        for device, seen in granted.items()
    }


def outcome_of(outcomes: Iterable[CheckedOutcome], granted: CheckedOutcome) -> CheckedOutcome:
    """Of a device. granted: whether it is known what a container gets."""
    if CheckedOutcome.FAILED in (*outcomes, granted):
        return CheckedOutcome.FAILED
    return granted


def _granted(seen: Seen) -> CheckedAspectView:
    parts = []
    if seen.files:
        parts.append(f"device files: {_few(sorted(seen.files))}")
    if seen.variables:
        parts.append(f"variables: {_few(sorted(seen.variables))}")
    if not parts:
        text = "The container has neither device files nor variables that one without devices has not."
        return CheckedAspectView(name=CheckedAspect.GRANTED, outcome=CheckedOutcome.FAILED, text=text)
    return CheckedAspectView(
        name=CheckedAspect.GRANTED,
        outcome=CheckedOutcome.PASSED,
        text=f"The container has {'; '.join(parts)}.",
    )


def _isolated(device: str, granted: Mapping[str, Seen]) -> CheckedAspectView:
    """Each device has a file of its own, which no container of another device sees."""
    mine = set(granted[device].files.values())
    others = {other: set(seen.files.values()) for other, seen in granted.items() if other != device}
    if not others or not mine:
        why = (
            "No other accelerator of the node is free to compare with."
            if mine
            else "It has no device files to compare."
        )
        return CheckedAspectView(name=CheckedAspect.ISOLATED, outcome=CheckedOutcome.NOT_MEASURED, text=why)
    if own := mine - set[str]().union(*others.values()):
        paths = sorted(path for path, what in granted[device].files.items() if what in own)
        text = f"No container of another device sees {_few(paths)}."
        return CheckedAspectView(name=CheckedAspect.ISOLATED, outcome=CheckedOutcome.PASSED, text=text)
    seen_by = sorted(other for other, files in others.items() if files & mine)
    text = f"Its device files are also in the container of {_few(seen_by)}."
    return CheckedAspectView(name=CheckedAspect.ISOLATED, outcome=CheckedOutcome.FAILED, text=text)


def _numbered(seen: Seen) -> CheckedAspectView:
    numbered = {name: seen.variables[name] for name in _FROM_ZERO if name in seen.variables}
    if not numbered:
        text = "No variable of its vendor numbers devices."
        return CheckedAspectView(name=CheckedAspect.NUMBERED, outcome=CheckedOutcome.NOT_MEASURED, text=text)
    wrong = [f"{name} is {value}" for name, value in numbered.items() if value != "0"]
    if wrong:
        return CheckedAspectView(
            name=CheckedAspect.NUMBERED, outcome=CheckedOutcome.FAILED, text=f"{_few(wrong)} instead of 0."
        )
    return CheckedAspectView(
        name=CheckedAspect.NUMBERED,
        outcome=CheckedOutcome.PASSED,
        text=f"{_few(sorted(numbered))} begins at 0.",
    )


def _counted(seen: Seen) -> CheckedAspectView:
    if seen.listed is None:
        text = "The container has no tool or driver library of the vendor that lists devices."
        return CheckedAspectView(name=CheckedAspect.COUNTED, outcome=CheckedOutcome.NOT_MEASURED, text=text)
    outcome = CheckedOutcome.PASSED if seen.listed == 1 else CheckedOutcome.FAILED
    devices = "1 device" if seen.listed == 1 else f"{seen.listed} devices"
    return CheckedAspectView(
        name=CheckedAspect.COUNTED, outcome=outcome, text=f"{seen.tool} lists {devices}."
    )


def _few(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
