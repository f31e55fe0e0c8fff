import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { useCallback } from "react";

/** Display names of the object types of actions. */
const KINDS: Record<string, MessageDescriptor> = {
  app: msg`Apps`,
  audit: msg`Audit trail`,
  auth: msg`Account`,
  domain: msg`Domains`,
  engine: msg`Engines`,
  event: msg`Events`,
  factor: msg`Two-factor authentication`,
  file: msg`Files`,
  group: msg`Resource groups`,
  image: msg`Images`,
  keypair: msg`Keypairs`,
  limit: msg`Limits`,
  login: msg`Sign-ins`,
  metrics: msg`Metrics`,
  node: msg`Nodes`,
  notification: msg`Notifications`,
  password: msg`Password`,
  policy: msg`Resource policies`,
  preset: msg`Presets`,
  profile: msg`Profile`,
  project: msg`Projects`,
  provider: msg`Identity providers`,
  queue: msg`Queue`,
  quota: msg`Quotas`,
  registry: msg`Registries`,
  resource: msg`Available resources`,
  schedule: msg`Schedules`,
  scheduler: msg`Scheduler`,
  template: msg`Templates`,
  environment: msg`Environments`,
  server: msg`System status`,
  session: msg`Sessions`,
  share: msg`Sharing`,
  site: msg`Site settings`,
  dotfile: msg`Dotfiles`,
  ssh_key: msg`SSH keys`,
  storage_host: msg`Storage hosts`,
  token: msg`Tokens`,
  usage: msg`Resource usage`,
  user: msg`Users`,
  vfolder: msg`Folders`,
  view: msg`Saved views`,
  webhook: msg`Webhooks`,
};

/** The translated name of an object type; the raw name if unknown. */
export function useKindText(): (kind: string) => string {
  const { i18n } = useLingui();
  return useCallback(
    (kind) => {
      const known = KINDS[kind];
      return known ? i18n._(known) : kind;
    },
    [i18n],
  );
}
