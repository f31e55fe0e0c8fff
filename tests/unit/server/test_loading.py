"""What is loaded before roles are forked, so that they are soon back after a crash, and what none loads."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from carrel.server import processes

PROCESSES = {
    "gateway": ("carrel.gateway.serve", {"fastapi", "starlette", "uvicorn", "ldap3", "wsgidav", "numpy"}),
    "api": ("carrel.server.compose", {"joserfc", "ldap3", "webauthn", "wsgidav"}),
}


@pytest.mark.parametrize("role", PROCESSES)
def test_a_process_loads_nothing_that_it_can_do_without(role: str) -> None:
    main, unneeded = PROCESSES[role]
    loaded = f"import sys, carrel.server.processes, {main}; print(*sys.modules)"
    answer = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert unneeded & set(answer.stdout.split()) == set()


def test_what_roles_load_as_they_begin_is_loaded_before_they_are_forked() -> None:
    tree = ast.parse(Path(processes.__file__).read_text())
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    needed = set()
    for node in (inner for function in functions for inner in ast.walk(function)):
        if isinstance(node, ast.Import):
            needed |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            # Of a package its modules, of a module what is in it.
            needed |= {
                f"{node.module}.{alias.name}" if node.module == "carrel.server" else str(node.module)
                for alias in node.names
            }
    assert needed
    loaded = "import sys; from carrel.server import processes; processes.load(); print(*sys.modules)"
    answer = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert needed - set(answer.stdout.split()) == set()
