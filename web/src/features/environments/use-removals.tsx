import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { useMemo } from "react";
import type { Environment, EnvironmentVersion } from "@/api/types";
import { useRemoveEnvironment } from "@/queries/environments";
import { commandLine } from "@/ui/command";
import { askToConfirm } from "@/ui/form/ConfirmDialog";

/** Deletes environments and versions, after a confirmation. */
export function useRemovals() {
  const { t } = useLingui();
  const { mutateAsync: remove } = useRemoveEnvironment();
  return useMemo(
    () => ({
      environment: ({ id, name, versions }: Environment) =>
        askToConfirm({
          title: t`Delete environment`,
          closeLabel: t`Close`,
          confirm: t`Delete`,
          command: commandLine("carrel", "environment", "rm", id),
          onConfirm: () => remove({ id }),
          children: (
            <Trans>
              Deletes <b>{name}</b> with{" "}
              <Plural value={versions.length} one="its version" other="all # versions" />, for good. Sessions
              cannot be started from it any more.
            </Trans>
          ),
        }),
      version: ({ id, name: environment }: Environment, { name }: EnvironmentVersion) =>
        askToConfirm({
          title: t`Delete version`,
          closeLabel: t`Close`,
          confirm: t`Delete`,
          command: commandLine("carrel", "environment", "rm", `${id}:${name}`),
          onConfirm: () => remove({ id, version: name }),
          children: (
            <Trans>
              Deletes version <b>{name}</b> of <b>{environment}</b>, for good. With its last version, the
              environment is deleted.
            </Trans>
          ),
        }),
    }),
    [t, remove],
  );
}
