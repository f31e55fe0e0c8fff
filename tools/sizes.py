"""Print the files and functions that exceed the recommended sizes. Never fails: split where the idea splits.

Run: python tools/sizes.py
"""

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE_LINES = {".py": 400, ".ts": 250, ".tsx": 250}
FUNCTION_LINES = 40
GENERATED = ("_generated", "/generated/", "/api/gen/", "migrations/versions/")


def main() -> None:
    for name in tracked_files():
        path = ROOT / name
        text = path.read_text(encoding="utf-8")
        lines = text.count("\n")
        limit = FILE_LINES[path.suffix]
        if lines > limit:
            print(f"{name}: {lines} lines (habit: {limit})")
        if path.suffix == ".py":
            for function, line, length in long_functions(text):
                print(f"{name}:{line}: {function} has {length} lines (habit: {FUNCTION_LINES})")


def tracked_files() -> Iterator[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path.suffix in FILE_LINES and path.is_file() and not any(part in f"/{name}" for part in GENERATED):
            yield name


def long_functions(text: str) -> Iterator[tuple[str, int, int]]:
    """Name, first line and length of each function over the recommended size; its docstring does not count."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1 - docstring_lines(node)
            if length > FUNCTION_LINES:
                yield node.name, node.lineno, length


def docstring_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    if ast.get_docstring(node) is None:
        return 0
    first = node.body[0]
    return (first.end_lineno or first.lineno) - first.lineno + 1


if __name__ == "__main__":
    main()
