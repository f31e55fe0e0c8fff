"""What the processes of an installation do not load, so that they start again soon after a crash and weigh less."""

import subprocess
import sys

import pytest

PROCESSES = {
    "gateway": ("carrel.gateway.serve", {"fastapi", "starlette", "uvicorn", "ldap3", "wsgidav", "numpy"}),
    "api": ("carrel.server.compose", {"joserfc", "ldap3", "wsgidav"}),
}


@pytest.mark.parametrize("role", PROCESSES)
def test_a_process_loads_nothing_that_it_can_do_without(role: str) -> None:
    main, unneeded = PROCESSES[role]
    loaded = f"import sys, carrel.server.processes, {main}; print(*sys.modules)"
    answer = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert unneeded & set(answer.stdout.split()) == set()
