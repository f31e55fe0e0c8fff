import { Trans } from "@lingui/react/macro";
import type { Registry } from "@/api/types";

/** For whom a registry is. */
export function RegistryScope({ registry: { domain, project } }: { registry: Registry }) {
  if (project) return <Trans>Project {project.name}</Trans>;
  if (domain) return <Trans>Domain {domain.name}</Trans>;
  return <Trans>Installation</Trans>;
}
