import { useLingui } from "@lingui/react/macro";
import { Anchor } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { AuditEntry } from "@/api/types";
import { NOUNS } from "./sentences/nouns";

function OtherObject({ kind, label }: { kind: string; label: string }) {
  const { i18n } = useLingui();
  const noun = NOUNS[kind];
  return noun ? `${i18n._(noun)} ${label}` : label;
}

/** The object of an entry, linked to its page if it has one. */
export function ObjectLink({ object }: { object: AuditEntry["object"] }) {
  const { kind, id, name } = object;
  const label = name || id;
  if (!id) return label || "–";
  switch (kind) {
    case "session":
      return (
        <Anchor size="sm" renderRoot={(p) => <Link {...p} to="/sessions" search={{ session: id }} />}>
          {label}
        </Anchor>
      );
    case "user":
    case "profile":
      return (
        <Anchor size="sm" renderRoot={(p) => <Link {...p} to="/users" search={{ user: id }} />}>
          {label}
        </Anchor>
      );
    case "project":
      return (
        <Anchor size="sm" renderRoot={(p) => <Link {...p} to="/projects" search={{ open: id }} />}>
          {label}
        </Anchor>
      );
    case "domain":
      return (
        <Anchor size="sm" renderRoot={(p) => <Link {...p} to="/domains" search={{ open: id }} />}>
          {label}
        </Anchor>
      );
    case "node":
      return (
        <Anchor size="sm" renderRoot={(p) => <Link {...p} to="/resources" search={{ open: id }} />}>
          {label}
        </Anchor>
      );
    case "group":
      return (
        <Anchor size="sm" renderRoot={(p) => <Link {...p} to="/resources/groups" search={{ open: id }} />}>
          {label}
        </Anchor>
      );
    case "policy":
      return (
        <Anchor size="sm" renderRoot={(p) => <Link {...p} to="/policies" search={{ open: id }} />}>
          {label}
        </Anchor>
      );
    case "vfolder":
      return (
        <Anchor size="sm" renderRoot={(p) => <Link {...p} to="/storage/folders" search={{ open: id }} />}>
          {label}
        </Anchor>
      );
    case "storage_host":
      return (
        <Anchor size="sm" renderRoot={(p) => <Link {...p} to="/storage" search={{ open: id }} />}>
          {label}
        </Anchor>
      );
    case "image":
      return (
        <Anchor size="sm" renderRoot={(p) => <Link {...p} to="/environments/images" search={{ open: id }} />}>
          {label}
        </Anchor>
      );
    case "registry":
      return (
        <Anchor
          size="sm"
          renderRoot={(p) => <Link {...p} to="/environments/registries" search={{ open: id }} />}
        >
          {label}
        </Anchor>
      );
    case "site":
      return (
        <Anchor size="sm" renderRoot={(p) => <Link {...p} to="/site" />}>
          {label}
        </Anchor>
      );
    default:
      return <OtherObject kind={kind} label={label} />;
  }
}
