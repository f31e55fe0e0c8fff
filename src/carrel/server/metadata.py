"""Every table of Carrel, for migrations to compare with."""

from sqlalchemy import MetaData

from carrel.db.tables import Table

METADATA: MetaData = Table.metadata
