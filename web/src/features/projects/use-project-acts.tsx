import { Trans, useLingui } from "@lingui/react/macro";
import { notifications } from "@mantine/notifications";
import { useMemo } from "react";
import type { ActionName } from "@/api/actions";
import type { WholeProject } from "@/api/types";
import { useRefusal } from "@/me/may";
import { useRemoveProject, useRestoreProject } from "@/queries/projects";
import { useProblemText } from "@/sentences/use-problem-text";
import { commandLine } from "@/ui/command";
import { askToConfirm } from "@/ui/form/ConfirmDialog";
import { openFormDialog } from "@/ui/form/FormDialog";
import { ArchiveDialog } from "./ArchiveDialog";

/** The actions on projects, with the reason for a refusal. */
export function useProjectActs() {
  const { t } = useLingui();
  const refusal = useRefusal();
  const problemText = useProblemText();
  const { mutateAsync: restore } = useRestoreProject();
  const { mutateAsync: remove } = useRemoveProject();
  return useMemo(() => {
    const why = (action: ActionName, project: WholeProject) =>
      refusal(action, { project: project.id, domain: project.domain.id });
    return {
      why,
      whyNotRemove: (project: WholeProject) =>
        why("project.remove", project) ??
        (project.had_sessions ? t`The project has past sessions. Archive it instead.` : null),
      archive: (project: WholeProject) =>
        openFormDialog({
          title: t`Archive project`,
          form: (close) => <ArchiveDialog project={project} onDone={close} />,
        }),
      restore: async (project: WholeProject) => {
        try {
          await restore(project.id);
        } catch (thrown) {
          notifications.show({
            color: "red",
            title: t`Could not restore ${project.name}`,
            message: problemText(thrown).detail,
          });
        }
      },
      remove: (project: WholeProject, onDone?: () => void) =>
        askToConfirm({
          title: t`Remove project`,
          closeLabel: t`Close`,
          confirm: t`Remove`,
          typedName: project.name,
          command: commandLine("carrel", "project", "rm", project.id),
          onConfirm: async () => {
            await remove(project.id);
            onDone?.();
          },
          children: (
            <Trans>
              Removes <b>{project.name}</b>, its limits and its member list. This cannot be undone.
            </Trans>
          ),
        }),
    };
  }, [t, refusal, problemText, restore, remove]);
}

export type ProjectActs = ReturnType<typeof useProjectActs>;
