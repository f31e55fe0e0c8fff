"""Images from which sessions can be started by name."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ColumnElement,
    DateTime,
    ForeignKey,
    Index,
    String,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, foreign, mapped_column, relationship

from carrel.core.ids import DomainId, GroupId, ImageId, NodeId, ProjectId, RegistryId
from carrel.db.tables import Table
from carrel.tables.registries import ImageRegistry

WATCH_TOPIC = "image_watches"
"""Notified when an update is to be taken, or a check is requested."""


class WatchRule(StrEnum):
    """What happens when the tag of an image has a new digest at its registry. OFF: sessions start
    from the tag. OFFER: an administrator decides. TAKE: it is taken during the daily checks. With OFFER and TAKE,
    sessions start from the digest that was taken last.
    """

    OFF = "off"
    OFFER = "offer"
    TAKE = "take"


class ImageSettings(Table):
    """What administrators set for an image; an image without a row has the defaults.

    image: its `Image.shown_name`. There is no foreign key: a scan that does not see a tag for a while must not undo
    them. enabled: None: as its registry has it. hidden: omitted from what users choose from. successor: shown name of
    the image to use instead of a deprecated one. aliases: further names, each of one image. preferred: the version that
    the name of its family means. domains, projects, groups: ids of those that may use it; domains and projects empty:
    all, groups empty: all. min_slots: instead of what its labels say. recommended_slots: what the launcher begins with.
    pull_groups, pull_nodes: ids of those to which an update is pulled; both empty: nodes that have the present one.
    """

    __tablename__ = "image_settings"
    __table_args__ = (
        CheckConstraint("deprecated OR successor IS NULL", name="successor"),
        Index("ix_image_settings_aliases", "aliases", postgresql_using="gin"),
    )

    image: Mapped[str] = mapped_column(String(512), primary_key=True)
    enabled: Mapped[bool | None]
    hidden: Mapped[bool] = mapped_column(server_default=text("false"))
    deprecated: Mapped[bool] = mapped_column(server_default=text("false"))
    successor: Mapped[str | None] = mapped_column(String(512))
    aliases: Mapped[list[str]] = mapped_column(ARRAY(String), server_default=text("'{}'"))
    preferred: Mapped[bool] = mapped_column(server_default=text("false"))
    domains: Mapped[list[DomainId]] = mapped_column(ARRAY(String), server_default=text("'{}'"))
    projects: Mapped[list[ProjectId]] = mapped_column(ARRAY(String), server_default=text("'{}'"))
    groups: Mapped[list[GroupId]] = mapped_column(ARRAY(String), server_default=text("'{}'"))
    min_slots: Mapped[dict[str, int]] = mapped_column(JSONB, server_default=text("'{}'"))
    recommended_slots: Mapped[dict[str, int]] = mapped_column(JSONB, server_default=text("'{}'"))
    watch: Mapped[WatchRule] = mapped_column(String(5), server_default=WatchRule.OFF)
    pull_groups: Mapped[list[GroupId]] = mapped_column(ARRAY(String), server_default=text("'{}'"))
    pull_nodes: Mapped[list[NodeId]] = mapped_column(ARRAY(String), server_default=text("'{}'"))


def unchanged(image: str) -> ImageSettings:
    """The settings of an image that has no row of them."""
    return ImageSettings(
        image=image,
        enabled=None,
        hidden=False,
        deprecated=False,
        successor=None,
        aliases=[],
        preferred=False,
        domains=[],
        projects=[],
        groups=[],
        min_slots={},
        recommended_slots={},
        watch=WatchRule.OFF,
        pull_groups=[],
        pull_nodes=[],
    )


class Image(Table):
    """Registered under a name, or added by a scan: then it has a registry and a full_name, its reference; its name only
    makes it unique.

    apps: templates as `apps.app_templates` reads them. host: of its reference. architecture: None if there are several,
    or unknown. version_key: sorts versions, see `images.versions`. layers, size_bytes: compressed, of a scanned image.
    declared_contents: what it contains by its labels and environment, by name -> version, such as python and cuda.
    package_contents: by its package databases, by name -> [version, database]; packages_digest: of the image that was
    read, packages_problem: why not all of it. digest: of the tag when it was scanned; of a watched image, when an
    update was taken last. watched: its row, only where a statement loads it with the image. requires_cuda: of drivers,
    see `core.cuda.requirement_of`; None: not read yet.
    """

    __tablename__ = "images"
    __table_args__ = (
        Index("ix_images_registry_id_repository", "registry_id", "repository"),
        Index("ix_images_repository", "repository"),
        Index("ix_images_digest_cuda", "digest", postgresql_where=text("requires_cuda <> ''")),
        Index("ix_images_shown_name_id", text("coalesce(full_name, name)"), "id"),
        Index("ix_images_family_version_key_id", "family", "version_key", "id"),
        Index("ix_images_version_key_id", "version_key", "id"),
        Index(
            "ix_images_searched",
            text("trigrams((coalesce(full_name, name) || ' ') || title)"),
            postgresql_using="gin",
        ),
    )

    id: Mapped[ImageId] = mapped_column(String, primary_key=True)
    name: Mapped[str] = mapped_column(String(64), unique=True)
    reference: Mapped[str] = mapped_column(String(512), index=True)
    title: Mapped[str] = mapped_column(String(120))
    description: Mapped[str] = mapped_column(String(1000))
    architecture: Mapped[str | None] = mapped_column(String(30))
    size_bytes: Mapped[int | None] = mapped_column(BigInteger)
    present: Mapped[bool] = mapped_column(default=False)
    min_slots: Mapped[dict[str, int]] = mapped_column(JSONB)
    apps: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    registry_id: Mapped[RegistryId | None] = mapped_column(
        String, ForeignKey("registries.id", ondelete="CASCADE")
    )
    full_name: Mapped[str | None] = mapped_column(String(512))
    host: Mapped[str] = mapped_column(String(300), server_default="localhost")
    repository: Mapped[str] = mapped_column(String(255), server_default="")
    tag: Mapped[str] = mapped_column(String(128), server_default="")
    digest: Mapped[str | None] = mapped_column(String(80))
    family: Mapped[str] = mapped_column(String(255), server_default="")
    version: Mapped[str] = mapped_column(String(128), server_default="")
    version_key: Mapped[str] = mapped_column(String(1200, collation="C"), server_default="")
    architectures: Mapped[list[str]] = mapped_column(ARRAY(String), server_default=text("'{}'"))
    layers: Mapped[int | None]
    built_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    declared_contents: Mapped[dict[str, str]] = mapped_column("contents", JSONB, server_default=text("'{}'"))
    package_contents: Mapped[dict[str, list[str]]] = mapped_column(JSONB, server_default=text("'{}'"))
    packages_digest: Mapped[str | None] = mapped_column(String(80))
    packages_problem: Mapped[str | None]
    accelerators: Mapped[list[str]] = mapped_column(ARRAY(String), server_default=text("'{}'"))
    licenses: Mapped[str] = mapped_column(String(500), server_default="")
    labels: Mapped[dict[str, str]] = mapped_column(JSONB, server_default=text("'{}'"))
    scanned_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    requires_cuda: Mapped[str | None]

    own_settings: Mapped[ImageSettings | None] = relationship(
        primaryjoin=lambda: shown_name() == foreign(ImageSettings.image),
        lazy="joined",
        uselist=False,
        viewonly=True,
    )
    scanned_in: Mapped[ImageRegistry | None] = relationship(lazy="joined", viewonly=True)
    watched: Mapped["ImageWatch | None"] = relationship(lazy="raise", uselist=False, viewonly=True)

    @property
    def shown_name(self) -> str:
        return self.full_name or self.name

    @property
    def contents(self) -> dict[str, str]:
        """Versions by name; what the image says of itself counts."""
        return {
            name: version for name, (version, _) in self.package_contents.items()
        } | self.declared_contents

    @property
    def contents_from(self) -> dict[str, str]:
        """Where each of the contents was read: "image", or a kind of package database."""
        read = {name: database for name, (_, database) in self.package_contents.items()}
        return read | dict.fromkeys(self.declared_contents, "image")

    @property
    def hidden(self) -> bool:
        return self.settings.hidden

    @property
    def deprecated(self) -> bool:
        return self.settings.deprecated

    @property
    def successor(self) -> str | None:
        return self.settings.successor

    @property
    def aliases(self) -> list[str]:
        return self.settings.aliases

    @property
    def preferred(self) -> bool:
        return self.settings.preferred

    @property
    def recommended_slots(self) -> dict[str, int]:
        return self.settings.recommended_slots

    @property
    def settings(self) -> ImageSettings:
        return self.own_settings or unchanged(self.shown_name)

    @property
    def enabled(self) -> bool:
        if self.settings.enabled is not None:
            return self.settings.enabled
        return self.scanned_in is None or self.scanned_in.images_enabled

    @property
    def least_slots(self) -> dict[str, int]:
        """The minimum slots of a session with this image."""
        return self.min_slots | self.settings.min_slots


class LayerPackages(Table):
    """What the package databases of a layer have, by its digest: images that share it do not read it again.

    databases: by path, packages by name -> version. removed, opaque: paths that it hides of the layers below. problem:
    why it cannot be read, ever. used_at: when an image was described by it.
    """

    __tablename__ = "layer_packages"

    digest: Mapped[str] = mapped_column(String(80), primary_key=True)
    databases: Mapped[dict[str, dict[str, str]]] = mapped_column(JSONB)
    removed: Mapped[list[str]] = mapped_column(JSONB)
    opaque: Mapped[list[str]] = mapped_column(JSONB)
    problem: Mapped[str | None]
    used_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class ImageWatch(Table):
    """What is known of the tag of a watched image; `Image.digest` is what sessions start from.

    offered: a newer digest, seen first at offered_at. skipped: a digest that is not to be offered. take: the offered
    one is to be taken. check: a check is requested. checked_at: of the last check that worked. tried_at: of the last
    one. problem: why it did not work, or why the update was not taken. missing: the registry no longer has the tag.
    taken_at: of the last update. news: administrators are still to be notified.
    """

    __tablename__ = "image_watches"
    __table_args__ = (
        CheckConstraint("(offered IS NULL) = (offered_at IS NULL)", name="offered"),
        CheckConstraint("NOT take OR offered IS NOT NULL", name="take"),
        Index("ix_image_watches_due", "image_id", postgresql_where=text('take OR "check" OR news')),
    )

    image_id: Mapped[ImageId] = mapped_column(
        String, ForeignKey("images.id", ondelete="CASCADE"), primary_key=True
    )
    offered: Mapped[str | None] = mapped_column(String(80))
    offered_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    skipped: Mapped[str | None] = mapped_column(String(80))
    take: Mapped[bool] = mapped_column(server_default=text("false"))
    check: Mapped[bool] = mapped_column(server_default=text("false"))
    missing: Mapped[bool] = mapped_column(server_default=text("false"))
    checked_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    tried_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    taken_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    problem: Mapped[str | None]
    news: Mapped[bool] = mapped_column(server_default=text("false"))


def shown_name() -> ColumnElement[str]:
    """`Image.shown_name` in SQL."""
    return func.coalesce(Image.full_name, Image.name)
