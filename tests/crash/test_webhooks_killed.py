"""`kill -9` of the control plane while a receiver has a delivery of a webhook."""

import asyncio
import json

from crash.control_plane import ControlPlaneProcess
from crash.place import Place
from people import eventually
from webhook_receiver import receiver


async def test_a_delivery_survives_a_kill_and_keeps_its_id(place: Place) -> None:
    plane = place.plane
    assert isinstance(plane, ControlPlaneProcess)
    struck = asyncio.Event()

    def strike() -> None:
        plane.kill()
        struck.set()

    await place.comes_to_rest()
    with place.looking() as look:
        look.execute(
            "INSERT INTO site (id, values) VALUES (1, %(v)s) ON CONFLICT (id) DO UPDATE SET values = %(v)s",
            {"v": json.dumps({"webhook_private_addresses": True})},
        )

    def states() -> list[object]:
        with place.looking() as look:
            return [state for (state,) in look.execute("SELECT state FROM webhook_deliveries").fetchall()]

    async with receiver() as target:
        webhook = await place.client.post("/webhooks", {"name": "x", "url": target.url, "kinds": ["ended"]})
        target.strike = strike
        session = await place.client.create("one", place.image)
        await place.client.remove(session)
        async with asyncio.timeout(60):
            await struck.wait()
        assert states() == ["pending"], "it is delivered when its result is stored, no sooner"
        plane.start()
        await eventually(lambda: states() == ["delivered"], within_s=60, every_s=0.1)
        assert webhook["secret"]
        assert target.types == ["session.ended"] * 2
        assert len({one.headers["webhook-id"] for one in target.received}) == 1
