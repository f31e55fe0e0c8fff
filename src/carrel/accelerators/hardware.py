"""What drivers read of a machine: files below a root, PCI functions, output of vendors' tools.

On a simulated machine the root is a tree of plain files: those in dev/ stand for device nodes, those in tools/ have
the recorded output of tools.
"""

import os
import re
import signal
import stat
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

TOOL_S = 5.0
"""Timeout of a vendor's tool. One that hangs in the kernel cannot be killed: nobody waits for it."""
_MOST_OUTPUT = 4 << 20
_MOST_TEXT = 1 << 20
_DIRECTORIES = (
    "usr/bin",
    "usr/local/bin",
    "usr/sbin",
    "usr/local/sbin",
    "opt/groq/runtime/site-packages/bin",
    "opt/sambaflow/bin",
)
"""Where tools are trusted to be: PATH may name directories of users."""
_PCI = re.compile(r"(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}):([0-9a-f]{2})\.([0-7])", re.IGNORECASE)


PROGRAM = "program"
"""On a simulated machine, beside recorded output of a tool: what stands for it where nothing is recorded."""


class ToolError(Exception):
    """A tool that is missing, failed or did not end in time; the message is a sentence. output: of one that failed."""

    def __init__(self, message: str, output: str = "") -> None:
        super().__init__(message)
        self.output = output


class ToolMissing(ToolError):
    """A tool that is not installed."""


@dataclass(frozen=True, slots=True)
class PciFunction:
    """A function of the PCI bus. address: 0000:18:00.0. vendor, device: four lower-case hexadecimal digits."""

    address: str
    vendor: str
    device: str
    numa: int | None


@dataclass(frozen=True)
class Machine:
    """The machine whose files are below the root. simulated: see above."""

    root: Path = Path("/")
    simulated: bool = False
    tool_s: float = TOOL_S
    _hung: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict, compare=False, repr=False)
    """Tools that could not be killed; none is run a second time beside itself."""

    def text(self, path: str) -> str | None:
        """The text of a file, stripped; None if it cannot be read. Attributes of a lost device fail in many ways."""
        try:
            with open(self.root / path, "rb") as file:
                return file.read(_MOST_TEXT).decode(errors="replace").strip("\0 \t\r\n")
        except OSError:
            return None

    def number(self, path: str) -> int | None:
        """The number in a file, decimal or with 0x; None if there is none."""
        try:
            return int(self.text(path) or "", 0)
        except ValueError:
            return None

    def path_of(self, path: str) -> tuple[str, ...]:
        """The components of the real path of a file below the root: those of sysfs lead to a place on a bus."""
        return Path(os.path.relpath(os.path.realpath(self.root / path), os.path.realpath(self.root))).parts

    def names(self, path: str) -> list[str]:
        """The names in a directory, sorted; empty if it cannot be read."""
        try:
            return sorted(os.listdir(self.root / path))
        except OSError:
            return []

    def has_node(self, path: str) -> bool:
        """True if there is such a device file."""
        try:
            mode = (self.root / path.lstrip("/")).stat().st_mode
        except OSError:
            return False
        return stat.S_ISREG(mode) if self.simulated else stat.S_ISCHR(mode)

    def nodes(self, pattern: str) -> list[str]:
        """The device files that match a pattern below /dev, sorted."""
        matching = self.root.glob(pattern.lstrip("/"))
        paths = sorted("/" + str(one.relative_to(self.root)) for one in matching)
        return [path for path in paths if self.has_node(path)]

    def address_of(self, node: str) -> str | None:
        """The PCI address of the card of a device file, by its class in sysfs; None if the kernel has no link."""
        name = node.rpartition("/")[2]
        for kind in self.names("sys/class"):
            with suppress(OSError):
                target = os.readlink(self.root / "sys/class" / kind / name / "device")
                if address := pci_address(os.path.basename(target)):
                    return address
        return None

    def groups_of(self, paths: Iterable[str]) -> tuple[int, ...]:
        """The groups that may use these device files, by GID, without root's; none on a simulated machine."""
        groups: dict[int, None] = {}
        for path in () if self.simulated else paths:
            with suppress(OSError):
                groups[(self.root / path.lstrip("/")).stat().st_gid] = None
        return tuple(group for group in groups if group)

    def pci_functions(self, vendor: str) -> list[PciFunction]:
        """The PCI functions of a vendor, by address."""
        functions = []
        for address in self.names("sys/bus/pci/devices"):
            place = f"sys/bus/pci/devices/{address}"
            if self.text(f"{place}/vendor") != f"0x{vendor}":
                continue
            device = (self.text(f"{place}/device") or "").removeprefix("0x").lower()
            functions.append(
                PciFunction(pci_address(address) or address, vendor, device, self.numa(f"{place}/numa_node"))
            )
        return functions

    def numa(self, path: str) -> int | None:
        """The NUMA node in a file; None if there is only one, which the kernel calls -1."""
        number = self.number(path)
        return None if number is None or number < 0 else number

    def pci_switch(self, address: str) -> str:
        """What connects a PCI function with its neighbours: the upstream port of their switch, otherwise the root of
        their bus; empty if it is not known.
        """
        parts = self.path_of(f"sys/bus/pci/devices/{address}")
        return parts[-3] if parts[:2] == ("sys", "devices") and len(parts) > 4 else ""

    def run(self, name: str, *arguments: str, env: Mapping[str, str] = {}) -> str:
        """The output of a vendor's tool. env: variables that it gets. Raises: ToolError."""
        if self.simulated:
            return self._replay(name, arguments, env)
        program = self._program(name)
        if program is None:
            raise ToolMissing(f"{name} is not installed.")
        if name in self._hung:
            if self._hung[name].poll() is None:
                raise self._hangs(name)
            del self._hung[name]
        try:
            return self._output(name, [str(program), *arguments], env)
        except OSError as error:
            raise ToolError(f"{name} cannot be run: {error.strerror}.") from None

    def has_tool(self, name: str) -> bool:
        """True if it is installed."""
        return (self.root / "tools" / name).is_dir() if self.simulated else self._program(name) is not None

    def _output(self, name: str, command: Sequence[str], env: Mapping[str, str]) -> str:
        # Into a file: a pipe is kept open by processes that the tool leaves behind.
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.DEVNULL,
                env={**env, "LC_ALL": "C", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
                start_new_session=True,
            )
            try:
                code = process.wait(self.tool_s)
            except subprocess.TimeoutExpired:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                try:
                    process.wait(0.2)
                except subprocess.TimeoutExpired:
                    self._hung[name] = process
                raise self._hangs(name) from None
            output.seek(0)
            text = output.read(_MOST_OUTPUT).decode(errors="replace")
        return _checked(name, code, text)

    def _hangs(self, name: str) -> ToolError:
        return ToolError(f"{name} did not end within {self.tool_s:g} s.")

    def _program(self, name: str) -> Path | None:
        paths = (self.root / directory / name for directory in _DIRECTORIES)
        return next((path for path in paths if os.access(path, os.X_OK)), None)

    def _recorded(self, name: str, arguments: Sequence[str]) -> Path:
        return self.root / "tools" / name / recording(arguments)

    def _replay(self, name: str, arguments: Sequence[str], env: Mapping[str, str]) -> str:
        path = self._recorded(name, arguments)
        if path.with_suffix(".hangs").exists():
            raise self._hangs(name)
        if (program := path.with_name(PROGRAM)).exists() and not path.exists():
            return self._output(name, [str(program), *arguments], env)
        try:
            text = path.read_text(errors="replace")
        except OSError:
            raise ToolMissing(f"{name} is not installed.") from None
        code = path.with_suffix(".code")
        return _checked(name, int(code.read_text()) if code.exists() else 0, text)


def recording(arguments: Sequence[str]) -> str:
    """Name of the file with the recorded output of a tool with these arguments: their first word, without dashes.

    Besides it, NAME.code has an exit status, and NAME.hangs says that the tool does not end.
    """
    return (re.sub(r"[^a-z]+", "-", (arguments[0] if arguments else "").split("=")[0].lower())).strip(
        "-"
    ) or "all"


def pci_address(text: str) -> str | None:
    """The address as Linux writes it, from that of a tool: 00000000:18:00.0 is 0000:18:00.0; None if it is none."""
    match = _PCI.fullmatch(text.strip())
    if match is None:
        return None
    domain = (match[1] or "0").lstrip("0").rjust(4, "0")
    return f"{domain}:{match[2]}:{match[3]}.{match[4]}".lower()


def quantity(text: str) -> float | None:
    """The number at the start of a field, such as "131072 MiB"; None for [N/A], [Not Supported] and the like."""
    match = re.match(r"\s*(\d{1,18}(?:\.\d{1,9})?)(?![\d.])", text, re.ASCII)
    return float(match[1]) if match else None


def printable(text: str, *, most: int) -> str:
    """The text on one line, without characters that databases and terminals do not take, and not longer than this."""
    return " ".join("".join(one if one.isprintable() else " " for one in text).split())[:most]


def _checked(name: str, code: int, text: str) -> str:
    if code:
        first = printable(text, most=200)
        raise ToolError(f"{name} failed with status {code}" + (f": {first}" if first else "") + ".", text)
    return text
