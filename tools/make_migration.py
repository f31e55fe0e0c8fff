"""Write a migration from the difference between the models and a fresh, migrated database.

Usage: .venv/bin/python tools/make_migration.py "what changes"
With --check: fails if there is a difference, writes nothing.
"""

import sys
import tempfile
from pathlib import Path

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine

from carrel.db.connecting import driver_url
from carrel.db.embedded import Embedded
from carrel.db.migrate import configuration, migrate
from carrel.server.metadata import METADATA


def main(arguments: list[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        server = Embedded(Path(folder) / "postgres")
        url = server.start()
        try:
            migrate(url)
            with create_engine(driver_url(url)).begin() as connection:
                if arguments == ["--check"]:
                    difference = compare_metadata(MigrationContext.configure(connection), METADATA)
                    print(difference or "The migrations match the models.")
                    return 1 if difference else 0
                config = configuration()
                config.attributes.update(connection=connection, metadata=METADATA)
                count = len(
                    list((Path(config.get_main_option("script_location") or "") / "versions").glob("0*.py"))
                )
                command.revision(config, arguments[0], autogenerate=True, rev_id=f"{count + 1:04}")
        finally:
            server.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
