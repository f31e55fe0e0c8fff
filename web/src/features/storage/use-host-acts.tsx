import { Trans, useLingui } from "@lingui/react/macro";
import { useMemo } from "react";
import type { StorageHost } from "@/api/types";
import { useRefusal } from "@/me/may";
import { useRemoveHost } from "@/queries/hosts";
import { commandLine } from "@/ui/command";
import { askToConfirm } from "@/ui/form/ConfirmDialog";

/** The actions on storage hosts, with the reason for a refusal. */
export function useHostActs() {
  const { t } = useLingui();
  const refusal = useRefusal();
  const { mutateAsync: remove } = useRemoveHost();
  return useMemo(() => {
    const why = refusal("storage_host.update");
    return {
      why,
      whyNotRemove: (host: StorageHost) =>
        why ?? (host.folders > 0 ? t`The host still has folders. Move them to another host first.` : null),
      remove: (host: StorageHost, onDone?: () => void) =>
        askToConfirm({
          title: t`Remove storage host`,
          closeLabel: t`Close`,
          confirm: t`Remove`,
          typedName: host.name,
          command: commandLine("carrel", "storage-host", "rm", host.name),
          onConfirm: async () => {
            await remove(host.id);
            onDone?.();
          },
          children: (
            <Trans>
              Removes <b>{host.name}</b> and its access list. The files in its directory are kept.
            </Trans>
          ),
        }),
    };
  }, [t, refusal, remove]);
}

export type HostActs = ReturnType<typeof useHostActs>;
