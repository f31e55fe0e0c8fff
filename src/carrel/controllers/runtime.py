"""All controllers of a leader."""

from collections.abc import Sequence

from carrel.controllers import due_deliveries
from carrel.controllers.app_layer import AppLayer
from carrel.controllers.array_counts import ArrayCounts
from carrel.controllers.audit_sealing import AuditSealing
from carrel.controllers.dependencies import Dependencies
from carrel.controllers.device_checks import AcceleratorChecks
from carrel.controllers.disk_limits import DiskLimits
from carrel.controllers.disk_space import DiskSpaceWatch
from carrel.controllers.drain import Drain
from carrel.controllers.environment_builds import EnvironmentBuilds
from carrel.controllers.environment_images import EnvironmentImages
from carrel.controllers.environment_pushes import EnvironmentPushes
from carrel.controllers.folder_tasks import FolderTasks
from carrel.controllers.housekeeping import Housekeeping
from carrel.controllers.idle import Idle
from carrel.controllers.image_inventory import ImageInventory
from carrel.controllers.image_pulls import ImagePulls
from carrel.controllers.image_scanning import ImageScanning
from carrel.controllers.last_apps import LastApps
from carrel.controllers.launch import Launch
from carrel.controllers.log_collection import LogCollection
from carrel.controllers.loop import Controller, Tools
from carrel.controllers.notify import Notify
from carrel.controllers.observe import Observe
from carrel.controllers.reap import Reap
from carrel.controllers.recurring import Recurring
from carrel.controllers.registry_passwords import RegistryPasswords
from carrel.controllers.registry_scans import RegistryScans
from carrel.controllers.resize import LiveResize
from carrel.controllers.schedule import Schedule
from carrel.controllers.storage_monitor import StorageMonitor
from carrel.controllers.update_checks import UpdateChecks
from carrel.controllers.usage_history import UsageHistory
from carrel.controllers.usage_packing import UsagePacking
from carrel.controllers.usage_sampling import UsageSampling


def controllers(tools: Tools) -> Sequence[Controller]:
    """In the order in which the simulation steps them."""
    launch, logs = Launch(tools), LogCollection(tools)
    return (
        Observe(tools),
        Recurring(tools),
        Schedule(tools),
        Dependencies(tools),
        Drain(tools),
        LiveResize(tools),
        AcceleratorChecks(tools),
        launch,
        LastApps(tools),
        Reap(tools, launch, logs),
        logs,
        UsageSampling(tools),
        UsageHistory(tools),
        UsagePacking(tools),
        Idle(tools),
        DiskLimits(tools),
        DiskSpaceWatch(tools),
        StorageMonitor(tools),
        FolderTasks(tools),
        EnvironmentImages(tools),
        EnvironmentBuilds(tools),
        EnvironmentPushes(tools),
        RegistryScans(tools),
        RegistryPasswords(tools),
        UpdateChecks(tools),
        ImageScanning(tools),
        ImageInventory(tools),
        ImagePulls(tools),
        AuditSealing(tools),
        Notify(tools),
        due_deliveries.mail(tools),
        due_deliveries.webhooks(tools),
        ArrayCounts(tools),
        Housekeeping(tools),
        AppLayer(tools),
    )
