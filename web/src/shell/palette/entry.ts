import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { Icon } from "@tabler/icons-react";
import type { LinkProps } from "@tanstack/react-router";
import type { Node, Preferences, Session } from "@/api/types";
import type { Language } from "@/i18n";
import type { Searchable } from "./match";

export const ENTRY_KINDS = {
  recent: msg`Recent`,
  action: msg`Actions`,
  page: msg`Pages`,
  session: msg`Sessions`,
  node: msg`Nodes`,
  user: msg`Users`,
  project: msg`Projects`,
  group: msg`Resource groups`,
  folder: msg`Folders`,
  setting: msg`Settings`,
} as const satisfies Record<string, MessageDescriptor>;
export type EntryKind = keyof typeof ENTRY_KINDS;

export type Target = Pick<LinkProps, "to" | "search" | "params" | "hash">;

/** What choosing an entry does. */
export type Act =
  | { act: "go"; target: Target }
  | { act: "terminal"; session: Session }
  | { act: "app"; session: Session; app: { name: string; title: string } }
  | { act: "terminate"; session: Session }
  | { act: "cordon"; node: Node; cordoned: boolean }
  | { act: "project"; id: string }
  | { act: "theme"; theme: NonNullable<Preferences["theme"]> }
  | { act: "language"; language: Language }
  | { act: "shortcuts" }
  | { act: "sign-out" };

/** One line of the palette. */
export interface PaletteEntry extends Searchable {
  kind: EntryKind;
  icon: Icon;
  does: Act;
}

export const goTo = (target: Target): Act => ({ act: "go", target });
