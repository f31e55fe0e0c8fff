"""What each shell offers on Tab, with the scripts that `carrel completion` prints, in that very shell."""

import asyncio
import os
import sys
from pathlib import Path

import pytest
from command_line import CommandLine, command_line, in_terminal
from installation import Api

_LINES = [
    ("carrel session te", "terminal"),
    ("carrel session show tr", "train-3"),
    ("carrel session rm other tr", "train-3"),
    ("carrel session create --im", "--image"),
    ("carrel session ls -o y", "yaml"),
    ("carrel session ls --output=y", "--output=yaml"),
    ("carrel template start my-d", "my-desk"),
    ("carrel template start my-desk -p see", "seed="),
    ("carrel completion fi", "fish"),
]


@pytest.fixture
async def user(living: Api, tmp_path: Path) -> CommandLine:
    """A person with one session, train-3, who finds `carrel` on their path."""
    user = await command_line(living, "user", tmp_path)
    user.environment["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    await user.ok(
        "session", "create", "--cpu", "0.1", "--mem", "64m", "--image", "debian:12", "--name", "train-3"
    )
    template = tmp_path / "template.yaml"
    template.write_text(
        "{name: my-desk, parameters: [{name: seed, default: 1}], session: {image: 'debian:12', cpu: 0.1, mem: 64m}}"
    )
    await user.ok("template", "create", "-f", str(template))
    return user


async def _script(user: CommandLine, shell: str, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(await user.ok("completion", shell))
    return path


@pytest.mark.parametrize("installed", ["sourced", "autoloaded"])
async def test_zsh_completes_the_line(user: CommandLine, tmp_path: Path, installed: str) -> None:
    script = await _script(user, "zsh", tmp_path / "site" / "_carrel")
    setup = tmp_path / "setup"
    begin = "autoload -Uz compinit; compinit -D -u"
    loads = {
        "autoloaded": f"fpath=({script.parent} $fpath); {begin}",
        "sourced": f"{begin}; source {script}",
    }
    # Ctrl-X shows the line as it is, since a terminal gets only what changes in it, and empties it: while it is
    # printed, the terminal takes keys such as Ctrl-U for itself.
    shows = "shows() { zle -I; print -r -- \"<$BUFFER>\"; BUFFER= }; zle -N shows; bindkey '^X' shows"
    setup.write_text(f"{loads[installed]}; {shows}; echo '<loaded>'\n")
    async with in_terminal("zsh", "-f", "-i", environment=user.environment, cols=200) as screen:
        await screen.press(f"source {setup}\r".encode())
        await screen.until(b"<loaded>")
        for line, completed in _LINES:
            await screen.press(f"{line}\t\x18".encode())
            completed_line = f"{line.rpartition(' ')[0]} {completed} "
            await screen.until(f"<{completed_line}>".encode())


async def test_fish_completes_the_line(user: CommandLine, tmp_path: Path) -> None:
    script = await _script(user, "fish", tmp_path / "carrel.fish")
    for line, completed in _LINES:
        process = await asyncio.create_subprocess_exec(
            "fish",
            "--no-config",
            "-c",
            f"source {script}; complete -C '{line}'",
            env=user.environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
        )
        output, _ = await asyncio.wait_for(process.communicate(), 30)
        offered = [offer.split("\t")[0] for offer in output.decode().splitlines()]
        assert offered == [completed], line
