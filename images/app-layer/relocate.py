"""Make the programs below a directory use only the loader and the libraries in its `lib`, in any image.

DT_RPATH, not DT_RUNPATH: it also applies to the libraries that a library needs, and goes before LD_LIBRARY_PATH,
which images set for their own programs.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

# Not needed by what is here, but by Python packages that people install.
_ALSO = (
    "librt.so.1",
    "libpthread.so.0",
    "libdl.so.2",
    "libutil.so.1",
    "libresolv.so.2",
    "libnss_compat.so.2",
)
_ALWAYS_LOADED = ("libstdc++.so.6", "libgcc_s.so.1")
"""By Python: the packages' libraries may name a search path of their own, which replaces this one."""


def main(root: Path) -> None:
    lib = root / "lib"
    lib.mkdir(exist_ok=True)
    loader = Path(_output("patchelf", "--print-interpreter", "/bin/ls"))
    programs = [path for path in _binaries(root) if _is_dynamic(path)]
    # 1. Collect what they need, before their search paths change.
    needed = {path for program in programs for path in _libraries(program, root)}
    system = loader.resolve().parent
    needed |= {system / name for name in _ALSO if (system / name).exists()}
    for path in [loader, *sorted(needed)]:
        shutil.copy(path.resolve(), lib / path.name)
    # 2. Rewrite them.
    for path in [*programs, *(lib / one.name for one in needed)]:
        path.chmod(0o755)
        own = [
            one for one in _output("patchelf", "--print-rpath", path).split(":") if one.startswith("$ORIGIN")
        ]
        _output("patchelf", "--force-rpath", "--set-rpath", ":".join([*own, str(lib)]), path)
        if _interpreter(path):
            _output("patchelf", "--set-interpreter", lib / loader.name, path)
    [python] = [path for path in (root / "python" / "bin").iterdir() if not path.is_symlink()]
    for name in _ALWAYS_LOADED:
        _output("patchelf", "--add-needed", name, python)


def _binaries(root: Path) -> Iterator[Path]:
    for path in root.rglob("*"):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                if file.read(4) == b"\x7fELF":
                    yield path


def _is_dynamic(path: Path) -> bool:
    """False for static programs, and for libraries of other architectures, which nothing here loads."""
    tried = subprocess.run(["ldd", path], capture_output=True, text=True, check=False)
    return tried.returncode == 0 and "statically linked" not in tried.stdout


def _libraries(program: Path, root: Path) -> Iterator[Path]:
    """The libraries that it loads from outside of the directory."""
    for line in _output("ldd", program).splitlines():
        name, arrow, rest = line.strip().partition(" => ")
        path = Path(rest.split(" (")[0]) if arrow else None
        if path and path.is_absolute() and not path.is_relative_to(root):
            yield path.with_name(name)


def _interpreter(path: Path) -> bool:
    command = ["patchelf", "--print-interpreter", path]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _output(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
