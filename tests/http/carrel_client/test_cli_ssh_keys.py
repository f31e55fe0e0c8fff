"""`carrel ssh-key` makes files that OpenSSH and its readers take."""

from pathlib import Path

from command_line import command_line
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_ssh_private_key
from installation import Api


async def test_the_private_key_of_a_pair_is_a_file_that_ssh_reads(api: Api, tmp_path: Path) -> None:
    user = await command_line(api, "user", tmp_path)
    done = await user.run("ssh-key", "add", "desk")
    assert done.code == 0, done.stderr
    assert done.stdout.startswith(b"-----BEGIN OPENSSH PRIVATE KEY-----\n")
    assert done.stdout.endswith(b"-----END OPENSSH PRIVATE KEY-----\n")
    public = load_ssh_private_key(done.stdout, None).public_key()
    listed = await user.ok("ssh-key", "ls", "-o", "jsonpath={.items[0].public_key}")
    assert listed.split()[:2] == public.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode().split()
    assert "desk is added: SHA256:" in done.stderr


async def test_a_key_that_is_brought_prints_nothing_to_standard_output(api: Api, tmp_path: Path) -> None:
    user = await command_line(api, "user", tmp_path)
    await user.ok("ssh-key", "add", "desk")
    line = await user.ok("ssh-key", "ls", "-o", "jsonpath={.items[0].public_key}")
    await user.ok(
        "ssh-key", "rm", "--yes", (await user.ok("ssh-key", "ls", "-o", "jsonpath={.items[0].id}")).strip()
    )
    done = await user.run("ssh-key", "add", "laptop", "--file", "-", stdin=line.encode())
    assert (done.code, done.stdout) == (0, b""), done.stderr
    assert "laptop is added" in done.stderr


async def test_variables_of_a_token_are_a_line_each(api: Api, tmp_path: Path) -> None:
    user = await command_line(api, "user", tmp_path)
    made = await user.ok("token", "create", "nightly", "--scope", "session.read")
    assert [line.partition("=")[0] for line in made.splitlines()] == [
        "export CARREL_URL",
        "export CARREL_TOKEN",
    ]
