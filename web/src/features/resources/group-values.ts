import type { Group, GroupCreate, GroupUpdate } from "@/api/types";
import { cliTime } from "@/features/sessions/launcher/command";
import { commandLine } from "@/ui/command";
import { slotWord } from "@/ui/slots";

/** Form values of a resource group. */
export type GroupValues = Required<Omit<GroupCreate, Optional>> & Record<Optional, string>;

/** Texts that are null if they are empty. */
const OPTIONAL = ["app_address", "node_selector", "runtime"] as const;
type Optional = (typeof OPTIONAL)[number];

const FRESH: GroupValues = {
  name: "",
  description: "",
  active: true,
  public: true,
  session_kinds: ["interactive", "batch", "inference"],
  scheduler: "fifo",
  placement: "dispersed",
  slot_priority: [],
  pending_timeout_s: null,
  patience_s: 300,
  half_life_s: 7 * 86_400,
  on_node_loss: "end",
  node_loss_s: 120,
  max_rights: "root",
  app_address: "",
  node_selector: "",
  required_capabilities: [],
  min_share_tier: "none",
  topology: [],
  runtime: "",
  elastic: null,
};
const FIELDS = Object.keys(FRESH) as (keyof GroupValues)[];

export function groupValuesOf(group: Group | undefined): GroupValues {
  if (!group) return FRESH;
  const values = FIELDS.map((field) => [field, group[field] ?? FRESH[field]]);
  return Object.fromEntries(values) as GroupValues;
}

/** The request that creates such a group. */
export const groupRequest = (values: GroupValues): GroupCreate => ({
  ...values,
  ...Object.fromEntries(OPTIONAL.map((field) => [field, values[field].trim() || null])),
});

/** The fields that differ from the group. */
export const changedGroup = (group: Group, request: GroupCreate): GroupUpdate =>
  Object.fromEntries(
    FIELDS.filter((field) => JSON.stringify(group[field]) !== JSON.stringify(request[field])).map((field) => [
      field,
      request[field],
    ]),
  );

/** The CLI command that creates or changes the group. */
export function groupCommand(group: Group | undefined, changes: GroupUpdate): string {
  const given = group
    ? changes
    : changedGroup({ ...FRESH, ...groupRequest(FRESH) } as unknown as Group, changes as GroupCreate);
  const word = (option: string, value: string | undefined) => (value === undefined ? [] : [option, value]);
  const optional = (option: string, value: string | null | undefined) =>
    value === null ? [`--no-${option}`] : word(`--${option}`, value);
  const time = (seconds: number | undefined) => (seconds === undefined ? undefined : cliTime(seconds));
  const repeated = (option: string, values: string[] | undefined, none: string) =>
    values?.length ? values.flatMap((one) => [option, one]) : values ? [none] : [];
  return commandLine(
    "carrel",
    "group",
    ...(group ? ["edit", group.name] : ["create", changes.name || "gpu"]),
    ...(group ? word("--name", given.name) : []),
    ...word("--description", given.description),
    ...(group && given.active !== undefined ? [given.active ? "--activate" : "--deactivate"] : []),
    ...(given.public === undefined ? [] : [given.public ? "--public" : "--private"]),
    ...(given.session_kinds ?? []).flatMap((kind) => ["--kind", kind]),
    ...word("--scheduler", given.scheduler),
    ...word("--placement", given.placement),
    ...(given.slot_priority ?? []).flatMap((slot) => ["--slot-priority", slot]),
    ...word("--pending-timeout", given.pending_timeout_s === null ? "never" : time(given.pending_timeout_s)),
    ...word("--patience", time(given.patience_s)),
    ...word("--half-life", time(given.half_life_s)),
    ...word("--on-node-loss", given.on_node_loss),
    ...word("--node-loss", time(given.node_loss_s)),
    ...word("--max-rights", given.max_rights),
    ...optional("app-address", given.app_address),
    ...optional("node-selector", given.node_selector),
    ...repeated("--require-capability", given.required_capabilities, "--no-required-capabilities"),
    ...word("--min-share-tier", given.min_share_tier),
    ...repeated("--topology", given.topology, "--no-topology"),
    ...optional("runtime", given.runtime),
    ...elasticWords(given.elastic),
  );
}

function elasticWords(elastic: GroupUpdate["elastic"]): string[] {
  if (elastic === undefined) return [];
  if (elastic === null) return ["--no-elastic"];
  const limits = Object.entries(elastic.limit).flatMap(([slot, amount]) => [
    "--limit",
    `${slot}=${slotWord(slot, amount as number)}`,
  ]);
  return ["--elastic", elastic.engine, ...limits, "--machine-wait", cliTime(elastic.wait_s ?? 900)];
}
