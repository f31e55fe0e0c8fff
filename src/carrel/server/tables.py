"""Every table of Carrel, for migrations to compare with."""

from sqlalchemy import MetaData

import carrel.apps.model
import carrel.audit.model
import carrel.db.leader
import carrel.events.model
import carrel.files.model
import carrel.groups.model
import carrel.http.limits
import carrel.idle.model
import carrel.images.model
import carrel.keypairs.model
import carrel.limits.model
import carrel.logins.model
import carrel.nodes.model
import carrel.presets.model
import carrel.providers.model
import carrel.sessions.model
import carrel.site.model
import carrel.storage_hosts.model
import carrel.tenancy.model
import carrel.usage.model
import carrel.vfolders.model  # noqa: F401 - imported for their tables
from carrel.db.tables import Table

METADATA: MetaData = Table.metadata
