"""The starter image: built once from the recipe in `images/starter`, in the engine that runs it."""

import asyncio
from contextlib import suppress

from carrel.core.errors import Unavailable
from carrel.engines.context import Claimable
from carrel.engines.optional import ImageBuilding, StoredImage
from carrel.engines.port import EngineError
from carrel.server.bootstrap import Consent, Say, debian
from carrel.server.bootstrap.image_build import build, has_image, mirrors
from carrel.server.bootstrap.recipes import build_context, fingerprint

# Engines never pull names under localhost/ from a public registry, where anybody could publish an image of that name.
REPOSITORY = "localhost/carrel/starter"
_FORMER_REPOSITORY = "carrel/starter"
_LABEL = "carrel.title=Starter"


async def ensure_starter_image(engine: ImageBuilding, *, say: Say, consent: Consent = lambda _: False) -> str:
    """The reference of the starter image, which exists in the engine on return.

    The tag is a hash of the recipe, the machine's extra certificate authorities and the mirrors, so that a change of
    any of them builds a new image; `latest` is moved to it. Tags are set only after the whole build.
    Twice: one lookup, no build. Interrupted: the engine has cached the finished steps and the next build continues.
    Raises: Unavailable with cause and remedy.
    """
    await asyncio.to_thread(debian.remove_leftovers)
    context = build_context("starter")
    sources = mirrors(say)
    tag = fingerprint(context, sources)
    reference = f"{REPOSITORY}:{tag}"
    try:
        if not await has_image(engine, REPOSITORY, tag, formerly=_FORMER_REPOSITORY):
            say("making the starter image, once; this takes a few minutes")
            await build(engine, context, reference, sources, title="starter image", say=say, consent=consent)
            say("the starter image is ready")
        await engine.tag_image(reference, f"{REPOSITORY}:latest")
    except EngineError as error:
        raise Unavailable("engine.refused", error.message, hint="See the engine's log.") from error
    return reference


async def remove_superseded(engine: ImageBuilding, *, current: str) -> None:
    """Delete all superseded starter images, tagged or not.

    If another installation uses the engine, none is deleted: it may start sessions from them. An image in use by a
    container stays until the next call, as does the current image's former name. Raises: nothing; what remains only
    costs space.
    """
    with suppress(EngineError):
        if isinstance(engine, Claimable) and await engine.claim.others():
            return
        kept = (await engine.image(current)).id
        for image in await engine.images():
            if image.id != kept:
                await _remove(engine, image)


async def _remove(engine: ImageBuilding, image: StoredImage) -> None:
    ours = (f"{REPOSITORY}:", f"{_FORMER_REPOSITORY}:")
    names = [reference for reference in image.references if reference.startswith(ours)]
    title, _, value = _LABEL.partition("=")
    if not image.references and image.labels.get(title) == value:
        names = [image.id]
    for name in names:
        # The engine refuses to remove an image in use.
        with suppress(EngineError):
            await engine.remove_image(name)
