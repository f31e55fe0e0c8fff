"""Wire types of engines."""

from pydantic import BaseModel

from carrel.core.ids import EngineId


class EngineRef(BaseModel):
    id: EngineId
    name: str
