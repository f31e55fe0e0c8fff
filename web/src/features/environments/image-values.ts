import type { ImageDetail, ImageUpdate, ImageWatch, Slots } from "@/api/types";
import { commandLine } from "@/ui/command";
import { slotAmount } from "@/ui/slots";

/** The values of the form. enabled: "registry": as its registry has it. Amounts of 0 are not set. */
export type ImageValues = {
  enabled: "registry" | "yes" | "no";
  hidden: boolean;
  deprecated: boolean;
  successor: string;
  aliases: string[];
  preferred: boolean;
  domains: string[];
  projects: string[];
  groups: string[];
  min_slots: Record<string, number>;
  recommended_slots: Record<string, number>;
  watch: ImageWatch["rule"];
  pull_groups: string[];
  pull_nodes: string[];
};

const LISTS = ["aliases", "domains", "projects", "groups", "pull_groups", "pull_nodes"] as const;
const SLOTS = ["min_slots", "recommended_slots"] as const;
const SWITCHES = ["hidden", "deprecated", "preferred"] as const;

export function imageValues(image: ImageDetail): ImageValues {
  const { settings } = image;
  const ids = (scopes: { id: string }[] | undefined) => (scopes ?? []).map(({ id }) => id);
  return {
    enabled: settings?.enabled == null ? "registry" : settings.enabled ? "yes" : "no",
    hidden: image.hidden,
    deprecated: image.deprecated,
    successor: image.successor ?? "",
    aliases: image.aliases,
    preferred: image.preferred,
    domains: ids(settings?.domains),
    projects: ids(settings?.projects),
    groups: ids(settings?.groups),
    min_slots: settings?.min_slots ?? {},
    recommended_slots: image.recommended_slots,
    watch: settings?.watch ?? "off",
    pull_groups: ids(settings?.pull_groups),
    pull_nodes: ids(settings?.pull_nodes),
  };
}

const given = (slots: Slots) => Object.fromEntries(Object.entries(slots).filter(([, amount]) => amount > 0));

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** The settings that differ from the image's. */
export function imageChanges(image: ImageDetail, values: ImageValues): ImageUpdate {
  const before = imageValues(image);
  const successor = values.deprecated ? values.successor.trim() : "";
  return {
    ...(values.enabled === before.enabled
      ? {}
      : { enabled: values.enabled === "registry" ? null : values.enabled === "yes" }),
    ...Object.fromEntries(
      SWITCHES.filter((key) => values[key] !== before[key]).map((key) => [key, values[key]]),
    ),
    ...(values.watch === before.watch ? {} : { watch: values.watch }),
    ...(successor === before.successor ? {} : { successor: successor || null }),
    ...Object.fromEntries(
      LISTS.filter((key) => !same(values[key].toSorted(), before[key].toSorted())).map((key) => [
        key,
        values[key],
      ]),
    ),
    ...Object.fromEntries(
      SLOTS.filter((key) => !same(given(values[key]), given(before[key]))).map((key) => [
        key,
        given(values[key]),
      ]),
    ),
  };
}

const ENABLED = { registry: "--as-registry", yes: "--enable", no: "--disable" } as const;
const ON = { hidden: "--hide", deprecated: "--deprecate", preferred: "--default" } as const;
const OFF = { hidden: "--unhide", deprecated: "--undeprecate", preferred: "--no-default" } as const;
const OPTIONS = {
  aliases: "--alias",
  domains: "--for-domain",
  projects: "--for-project",
  groups: "--for-group",
  pull_groups: "--pull-to-group",
  pull_nodes: "--pull-to",
} as const;
const AMOUNTS = { min_slots: "--min-slot", recommended_slots: "--recommended-slot" } as const;

/** The CLI command of the changes. nameOf: the name of a domain, project or group. */
export function imageCommand(
  image: ImageDetail,
  values: ImageValues,
  nameOf: (id: string) => string,
): string {
  const changes = imageChanges(image, values);
  const words = (option: string, texts: string[]) =>
    texts.length > 0 ? texts.flatMap((text) => [option, text]) : [option, ""];
  return commandLine(
    "carrel",
    "image",
    "edit",
    image.name,
    ...("enabled" in changes ? [ENABLED[values.enabled]] : []),
    ...SWITCHES.filter((key) => key in changes).map((key) => (values[key] ? ON[key] : OFF[key])),
    ...(changes.watch ? ["--watch", changes.watch] : []),
    ...("successor" in changes ? ["--successor", changes.successor ?? ""] : []),
    ...LISTS.filter((key) => key in changes).flatMap((key) => words(OPTIONS[key], values[key].map(nameOf))),
    ...SLOTS.filter((key) => key in changes).flatMap((key) =>
      words(
        AMOUNTS[key],
        Object.entries(given(values[key])).map(([slot, amount]) => `${slot}=${slotAmount(slot, amount)}`),
      ),
    ),
  );
}
