"""Every table of Carrel, for comparison by migrations."""

from sqlalchemy import MetaData

import carrel.db.leader
import carrel.http.rate_limits
import carrel.tables.accelerator_checks
import carrel.tables.apps
import carrel.tables.audit
import carrel.tables.builds
import carrel.tables.dependencies
import carrel.tables.dotfiles
import carrel.tables.engines
import carrel.tables.environments
import carrel.tables.events
import carrel.tables.folders
import carrel.tables.groups
import carrel.tables.idle
import carrel.tables.image_scans
import carrel.tables.images
import carrel.tables.keypairs
import carrel.tables.limits
import carrel.tables.logins
import carrel.tables.network_checks
import carrel.tables.node_images
import carrel.tables.nodes
import carrel.tables.notifications
import carrel.tables.open_terminals
import carrel.tables.presets
import carrel.tables.providers
import carrel.tables.pushes
import carrel.tables.registries
import carrel.tables.rescans
import carrel.tables.saved_views
import carrel.tables.schedules
import carrel.tables.session_shares
import carrel.tables.session_templates
import carrel.tables.sessions
import carrel.tables.site
import carrel.tables.slot_kinds
import carrel.tables.storage_hosts
import carrel.tables.tenancy
import carrel.tables.uploads
import carrel.tables.usage  # noqa: F401 - imported for their tables
from carrel.db.tables import Table

METADATA: MetaData = Table.metadata
