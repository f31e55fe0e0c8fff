import { parse, stringify } from "yaml";
import { cliSize } from "@/ui/format";

type Fields = Record<string, unknown>;

/** Amounts of slots as the command line has them, which the server reads as well. */
const AMOUNTS: Record<string, (amount: number) => string | number> = {
  cpu: (millicores) => millicores / 1000,
  mem: cliSize,
};

/** The definition as YAML, with cpu and mem as people write them. */
export function toText(definition: Fields): string {
  const { image, slots, roles, ...others } = definition;
  const shown = {
    ...(image === undefined ? {} : { image }),
    ...withAmounts({ slots }),
    ...others,
    ...(Array.isArray(roles) ? { roles: roles.map(withAmounts) } : {}),
  };
  return stringify(shown, { lineWidth: 0 });
}

function withAmounts(fields: Fields): Fields {
  const { slots, ...others } = fields;
  if (typeof slots !== "object" || slots === null) return others;
  const { cpu, mem, ...accelerators } = slots as Fields;
  const amount = (slot: string, value: unknown) =>
    typeof value === "number" ? (AMOUNTS[slot]?.(value) ?? value) : value;
  return {
    ...(cpu === undefined ? {} : { cpu: amount("cpu", cpu) }),
    ...(mem === undefined ? {} : { mem: amount("mem", mem) }),
    ...(Object.keys(accelerators).length > 0 ? { slots: accelerators } : {}),
    ...others,
  };
}

/** The definition of a text in YAML or JSON. Throws an Error with the place of the fault. */
export function fromText(text: string): Fields {
  const given: unknown = parse(text);
  if (typeof given !== "object" || given === null || Array.isArray(given)) throw new Error("no fields");
  const { roles, ...others } = withSlots(given as Fields);
  return {
    ...others,
    ...(Array.isArray(roles) ? { roles: roles.map((role) => withSlots(role as Fields)) } : {}),
  };
}

function withSlots(fields: Fields): Fields {
  const { cpu, mem, slots, ...others } = fields;
  if (cpu === undefined && mem === undefined) return fields;
  return {
    ...others,
    slots: {
      ...(slots as Fields | undefined),
      ...(cpu === undefined ? {} : { cpu: String(cpu) }),
      ...(mem === undefined ? {} : { mem: String(mem) }),
    },
  };
}
