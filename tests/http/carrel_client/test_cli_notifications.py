"""`carrel notifications` and `carrel webhook`, against the real application."""

from pathlib import Path

from command_line import command_line
from installation import Api


async def test_channels_are_shown_and_chosen(api: Api, tmp_path: Path) -> None:
    user = await command_line(api, "user", tmp_path)
    await user.ok("notifications", "set", "--about-to-end", "mail,page", "--started", "none")
    shown = await user.as_json("notifications", "show")
    assert (shown["about_to_end"], shown["started"]) == (["page", "mail"], [])
    for words in (("notifications", "set"), ("notifications", "set", "--failed", "pigeon")):
        assert (await user.run(*words)).code == 2, words


async def test_a_webhook_from_its_creation_to_its_removal(api: Api, tmp_path: Path) -> None:
    user = await command_line(api, "user", tmp_path)
    secret = await user.ok(
        "webhook", "create", "chat", "https://chat.example.org/hook", "--kinds", "failed,ended"
    )
    assert secret.startswith("whsec_")
    [webhook] = (await user.as_json("webhook", "ls"))["items"]
    assert webhook["kinds"] == ["ended", "failed"]
    await user.ok("webhook", "test", webhook["id"])
    [delivery] = (await user.as_json("webhook", "deliveries", webhook["id"]))["items"]
    assert (delivery["type"], delivery["state"], delivery["attempts"]) == ("webhook.test", "pending", 0)
    assert delivery["id"] in await user.ok("webhook", "deliveries", webhook["id"], "--state", "pending")
    await user.ok("webhook", "redeliver", webhook["id"], delivery["id"])
    await user.ok("webhook", "update", webhook["id"], "--deactivate", "--name", "quiet")
    assert "quiet" in await user.ok("webhook", "ls")
    assert (await user.run("webhook", "test", webhook["id"])).code == 1
    await user.ok("webhook", "rm", "--yes", webhook["id"])
    assert (await user.as_json("webhook", "ls"))["items"] == []
