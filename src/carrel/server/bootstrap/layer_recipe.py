"""The image of the app layer, built once from the recipe in `images/app-layer` in each engine that mounts it.

Its reference names its version, which changes with the recipe, the machine's extra certificate authorities and the
mirrors.
"""

import os
from functools import cached_property

from carrel.core.errors import Unavailable
from carrel.engines.optional import ImageBuilding
from carrel.engines.port import EngineError, ImageUnusable
from carrel.server.bootstrap import Say
from carrel.server.bootstrap.image_build import build, mirrors
from carrel.server.bootstrap.recipes import build_context, fingerprint

REPOSITORY = "localhost/carrel/app-layer"
_NPM = "https://registry.npmjs.org"


class AppLayerRecipe:
    """The recipe as it is now; read from disk on first use."""

    @property
    def reference(self) -> str:
        """Of the image that it makes."""
        return f"{REPOSITORY}:{fingerprint(self._context, self._sources)}"

    async def build(self, engine: ImageBuilding, say: Say) -> None:
        """Make the image in the engine. Twice: no-op. Interrupted: the engine has cached the finished steps.

        Raises: EngineError; Unavailable with cause and remedy.
        """
        try:
            await engine.image(self.reference)
        except ImageUnusable:
            arguments = self._sources
            await build(
                engine, self._context, self.reference, arguments, title="app layer", say=say, consent=_refuse
            )

    @cached_property
    def _context(self) -> dict[str, bytes]:
        return build_context("app-layer")

    @cached_property
    def _sources(self) -> dict[str, str]:
        return {**mirrors(_silent), "NPM_REGISTRY": _npm_registry()}


async def build_here(engine: ImageBuilding, say: Say) -> str:
    """The reference of the image, which exists in the engine on return. Raises: Unavailable."""
    recipe = AppLayerRecipe()
    try:
        await recipe.build(engine, say)
    except EngineError as error:
        raise Unavailable("engine.refused", error.message, hint="See the engine's log.") from error
    return recipe.reference


def _npm_registry() -> str:
    url = os.environ.get("npm_config_registry", _NPM)  # noqa: SIM112 - as npm spells it
    return _NPM if "@" in url else url.rstrip("/")


def _refuse(_: str) -> bool:
    """Nothing is installed on the machine in the background."""
    return False


def _silent(_: str) -> None: ...
