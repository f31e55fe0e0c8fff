import type { SessionCreate, SessionDetail } from "@/api/types";

export interface EnvironmentRow {
  /** Only for the page: keeps a row's fields together while rows come and go. */
  key: string;
  name: string;
  value: string;
}

/** The launcher's form. */
export type LaunchForm = {
  image: string;
  name: string;
  cpu: number;
  mem: number;
  env: EnvironmentRow[];
};

export const NAME_PATTERN = /^[A-Za-z0-9_][A-Za-z0-9_.-]{2,62}[A-Za-z0-9_]$/;
const VARIABLE_PATTERN = /^[A-Za-z_][A-Za-z0-9_]*$/;

let rows = 0;
export const environmentRow = (name = "", value = ""): EnvironmentRow => ({
  key: `row-${++rows}`,
  name,
  value,
});

export function isName(name: string): boolean {
  return NAME_PATTERN.test(name);
}

export type VariableFault = "malformed" | "repeated" | null;

/** What is wrong with the name in one row; rows with neither name nor value do not count. */
export function variableFault(env: EnvironmentRow[], index: number): VariableFault {
  const row = env[index];
  if (!row || (row.name === "" && row.value === "")) return null;
  if (!VARIABLE_PATTERN.test(row.name)) return "malformed";
  return env.some((other, at) => at < index && other.name === row.name) ? "repeated" : null;
}

/** What is sent to the server. */
export function toRequest(form: LaunchForm, project: string | undefined): SessionCreate {
  const env = Object.fromEntries(
    form.env.filter((row) => row.name !== "").map((row) => [row.name, row.value]),
  );
  return {
    image: form.image.trim(),
    slots: { cpu: form.cpu, mem: form.mem },
    ...(form.name.trim() ? { name: form.name.trim() } : {}),
    ...(Object.keys(env).length > 0 ? { env } : {}),
    ...(project ? { project } : {}),
  };
}

/** The form that asks for a session like this one; its name is left out, since it may still be taken. */
export function formLike(session: SessionDetail): LaunchForm {
  return {
    image: session.image_name ?? session.image,
    name: "",
    cpu: session.slots.cpu ?? 0,
    mem: session.slots.mem ?? 0,
    env: Object.entries(session.env ?? {}).map(([name, value]) => environmentRow(name, value)),
  };
}
