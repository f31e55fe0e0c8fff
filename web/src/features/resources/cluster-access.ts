import type { Setting } from "@/ui/form/settings";

/** How a cluster is reached. */
export type ClusterAccess = "kubeconfig" | "token" | "inside";

const SETTINGS: Record<ClusterAccess, readonly string[]> = {
  kubeconfig: ["kubeconfig", "context"],
  token: ["url", "token", "authority"],
  inside: [],
};
const ALL = Object.values(SETTINGS).flat();

/** The settings of a kind that this way to reach a cluster needs, and all that are not about it. */
export const settingsFor = (access: ClusterAccess, settings: readonly Setting[]): Setting[] =>
  settings
    .filter(({ name }) => !ALL.includes(name) || SETTINGS[access].includes(name))
    .map((setting) =>
      ["kubeconfig", "url"].includes(setting.name) ? { ...setting, required: true } : setting,
    );
