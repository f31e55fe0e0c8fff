"""`carrel image`, and images of sessions, against the real application."""

import json
from pathlib import Path

from command_line import command_line
from databases import sql
from installation import Api
from node_kit import join, machine

ROW = """
    INSERT INTO images (id, name, reference, host, title, description, present, min_slots, apps, family, version)
    VALUES (:name, :name, :reference, 'registry.example.org', 'Title', '', false, '{"cpu" : 100, "mem" : 16777216}',
        '[]', 'family', '1')
"""


async def test_an_image_is_listed_shown_and_edited(api: Api, tmp_path: Path) -> None:
    for name in ("old", "new"):
        await sql(api.database, ROW, name=name, reference=f"registry.example.org/{name}:1")
    admin = await command_line(api, "superadmin", tmp_path)
    words = ("--alias", "a1", "--alias", "a2", "--min-slot", "cpu=0.5", "--recommended-slot", "mem=2g")
    await admin.ok(
        "image", "edit", "old", *words, "--deprecate", "--successor", "new", "--for-domain", "default"
    )
    shown = await admin.as_json("image", "show", "a2")
    assert (shown["name"], shown["aliases"], shown["successor"]) == ("old", ["a1", "a2"], "new")
    assert (shown["min_slots"]["cpu"], shown["recommended_slots"]) == (500, {"mem": 2 << 30})
    text = await admin.ok("image", "show", "old")
    assert "use new instead" in text
    assert "0.5" in text
    [listed] = (await admin.as_json("image", "ls", "--state", "deprecated", "--family", "family"))["items"]
    assert listed["name"] == "old"
    assert "deprecated" in await admin.ok("image", "ls", "--search", "old")
    await admin.ok("image", "edit", "old", "--alias", "", "--for-domain", "", "--min-slot", "", "--disable")
    shown = await admin.as_json("image", "show", "old")
    assert (shown["aliases"], shown["settings"]["domains"], shown["enabled"]) == ([], [], False)
    assert shown["min_slots"]["cpu"] == 100
    assert (await admin.run("image", "edit", "old")).code == 2
    names = (await admin.ok("__complete", "image", "show", "ne")).split()
    assert "new" in names


async def test_an_image_is_watched_and_its_update_is_skipped_and_taken(api: Api, tmp_path: Path) -> None:
    await sql(api.database, ROW, name="torch", reference="registry.example.org/torch:1")
    admin = await command_line(api, "superadmin", tmp_path)
    made = await admin.as_json("registry", "add", "ours", "--url", "https://registry.example.org")
    await sql(api.database, "UPDATE images SET registry_id = :id, digest = 'sha256:1'", id=made["id"])
    await join(api.database, machine("n1"))
    assert "not checked yet" in await admin.ok("image", "watch", "torch", "--rule", "take", "--pull-to", "n1")
    await admin.ok("image", "watch", "torch", "--pull-to", "n1", "--pull-to-group", "")
    await admin.ok("image", "watch", "torch")
    assert (await admin.as_json("image", "show", "torch"))["settings"]["watch"] == "take"
    assert "1 image will be checked" in await admin.ok("image", "check")
    assert "no update of torch" in (await admin.run("image", "take", "torch")).stderr.lower()
    offered = "UPDATE image_watches SET offered = 'sha256:2', offered_at = now()"
    await sql(api.database, offered)
    assert "update available" in await admin.ok("image", "ls", "--state", "update")
    shown = await admin.ok("image", "show", "torch")
    assert "sha256:2, since" in shown
    assert "n1" in shown
    assert "update skipped" in await admin.ok("image", "skip", "torch")
    await sql(api.database, offered)
    assert "taking an update" in await admin.ok("image", "take", "torch")
    await admin.ok("image", "edit", "torch", "--watch", "off", "--pull-to", "")
    settings = (await admin.as_json("image", "show", "torch"))["settings"]
    assert (settings["watch"], settings["pull_nodes"]) == ("off", [])
    await admin.ok("image", "watch", "torch")
    assert (await admin.as_json("image", "show", "torch"))["settings"]["watch"] == "offer"


async def test_a_deprecated_image_is_warned_of(api: Api, tmp_path: Path) -> None:
    for name in ("old", "starter"):
        await sql(api.database, ROW, name=name, reference=f"registry.example.org/{name}:1")
    admin, user = await command_line(api, "superadmin", tmp_path), await command_line(api, "user", tmp_path)
    await admin.ok("image", "edit", "old", "--deprecate", "--successor", "starter")
    made = await user.run("session", "create", "--image", "old", "-q")
    assert made.code == 0
    assert "The image old is deprecated. Use starter instead." in made.stderr


async def test_a_definition_can_have_what_really_ran(living: Api, tmp_path: Path) -> None:
    user = await command_line(living, "user", tmp_path)
    image = "registry.example.org/team/a:1"
    session = await user.as_json("session", "create", "--image", image, "--wait")
    digest, _ = living.engine.world.identity_of(image)
    assert digest in await user.ok("session", "show", session["id"])
    exported = json.loads(await user.ok("session", "export", session["id"], "--exact-image", "-o", "json"))
    assert exported["image"] == f"{image}@{digest}"
    again = await user.as_json("session", "again", session["id"], "--exact-image")
    assert again["image"] == f"{image}@{digest}"
