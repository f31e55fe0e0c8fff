"""What an image says of itself, read into the catalogue through the engine's port."""

import json

from installation import Api

from carrel.engines.fake import FakeEngine
from carrel.server import catalogue


async def test_the_labels_of_an_image_are_its_entry_in_the_catalogue(api: Api):
    engine = FakeEngine()
    labels = {"carrel.title": "Lab", "carrel.min_cpu": "0.5", "carrel.apps": json.dumps([])}
    engine.world.local_images |= {"lab:1", "lab:2"}
    engine.world.image_labels = {"lab:1": labels}
    assert not await catalogue.register(api.database, engine, name="lab", reference="lab:1")
    listed = (await (await api.as_("user")).get("/images")).json()["items"]
    [lab] = [one for one in listed if one["name"] == "lab"]
    assert (lab["title"], lab["min_slots"]["cpu"], lab["reference"]) == ("Lab", 500, "lab:1")
    assert await catalogue.register(api.database, engine, name="lab", reference="lab:2"), (
        "it replaces another"
    )
