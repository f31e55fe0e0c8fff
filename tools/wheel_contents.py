"""Build hook: adds the non-Python content of a wheel: the built page and the recipes of images.

A checkout uses both in place, so this does nothing for an editable installation.
"""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_PAGE = "src/carrel/web_dist"
_RECIPES = ("starter", "app-layer")


class WheelContents(BuildHookInterface):  # type: ignore[type-arg]
    """Refuses to build a distribution without the page."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        root = Path(self.root)
        if not (root / _PAGE / "index.html").is_file():
            raise RuntimeError(
                f"{_PAGE} holds no built page, and a distribution without one cannot be used. "
                "Build it first: cd web && npm ci && npm run build"
            )
        if self.target_name == "wheel":
            for name in _RECIPES:
                source = str(root / "images" / name)
                build_data["force_include"][source] = f"carrel/server/bootstrap/recipes/{name}"
