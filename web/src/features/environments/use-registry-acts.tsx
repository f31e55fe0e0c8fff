import { Trans, useLingui } from "@lingui/react/macro";
import { useMemo } from "react";
import type { Registry } from "@/api/types";
import { useRemoveRegistry } from "@/queries/registries";
import { commandLine } from "@/ui/command";
import { askToConfirm } from "@/ui/form/ConfirmDialog";

/** The actions on registries. Whoever sees one may change it. */
export function useRegistryActs() {
  const { t } = useLingui();
  const { mutateAsync: remove } = useRemoveRegistry();
  return useMemo(
    () => ({
      remove: (registry: Registry, onDone?: () => void) =>
        askToConfirm({
          title: t`Remove registry`,
          closeLabel: t`Close`,
          confirm: t`Remove`,
          typedName: registry.name,
          command: commandLine("carrel", "registry", "rm", registry.name),
          onConfirm: async () => {
            await remove(registry.id);
            onDone?.();
          },
          children: (
            <Trans>
              Removes <b>{registry.name}</b> and its credentials. Nothing is deleted at the registry.
            </Trans>
          ),
        }),
    }),
    [t, remove],
  );
}

export type RegistryActs = ReturnType<typeof useRegistryActs>;
