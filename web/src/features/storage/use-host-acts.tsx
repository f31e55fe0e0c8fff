import { Trans, useLingui } from "@lingui/react/macro";
import { useMemo } from "react";
import type { StorageHost } from "@/api/types";
import { useRefusal } from "@/me/may";
import { useRemoveHost } from "@/queries/hosts";
import { commandLine } from "@/ui/command";
import { askToConfirm } from "@/ui/form/ConfirmDialog";

/** What can be done with storage hosts, and why not. */
export function useHostActs() {
  const { t } = useLingui();
  const refusal = useRefusal();
  const { mutateAsync: remove } = useRemoveHost();
  return useMemo(() => {
    const why = refusal("storage_host.update");
    return {
      why,
      whyNotRemove: (host: StorageHost) =>
        why ?? (host.folders > 0 ? t`It still keeps folders: move them to another host first.` : null),
      remove: (host: StorageHost, onDone?: () => void) =>
        askToConfirm({
          title: t`Remove a storage host`,
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
              <b>{host.name}</b> is forgotten, with who may use it. What is in its directory stays.
            </Trans>
          ),
        }),
    };
  }, [t, refusal, remove]);
}

export type HostActs = ReturnType<typeof useHostActs>;
