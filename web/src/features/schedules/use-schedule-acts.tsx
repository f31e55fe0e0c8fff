import { Trans, useLingui } from "@lingui/react/macro";
import { notifications } from "@mantine/notifications";
import { useMemo } from "react";
import type { Schedule } from "@/api/types";
import { useRefusal } from "@/me/may";
import { useRemoveSchedule, useRunSchedule, useSetScheduleActive } from "@/queries/schedules";
import { useProblemText } from "@/sentences/use-problem-text";
import { useSessionText } from "@/sentences/use-session-text";
import { commandLine } from "@/ui/command";
import { askToConfirm } from "@/ui/form/ConfirmDialog";

const place = ({ owner, project }: Schedule) => ({ owner: owner.id, project: project.id });

/** The actions on schedules, with the reason for a refusal. onRemoved: called after one is deleted. */
export function useScheduleActs(onRemoved: () => void) {
  const { t } = useLingui();
  const refusal = useRefusal();
  const problemText = useProblemText();
  const { reason } = useSessionText();
  const { mutateAsync: setActive } = useSetScheduleActive();
  const { mutateAsync: run } = useRunSchedule();
  const { mutateAsync: remove } = useRemoveSchedule();
  return useMemo(() => {
    const failed = (title: string, message: string) => notifications.show({ color: "red", title, message });
    return {
      whyNotChange: (schedule: Schedule) => refusal("schedule.update", place(schedule)),
      whyNotRun: (schedule: Schedule) => refusal("schedule.run", place(schedule)),
      whyNotPause: (schedule: Schedule) => refusal("schedule.pause", place(schedule)),
      whyNotRemove: (schedule: Schedule) => refusal("schedule.remove", place(schedule)),
      /** Pauses or resumes it. */
      setActive: async ({ id, name }: Schedule, active: boolean) => {
        try {
          await setActive({ id, active });
        } catch (thrown) {
          failed(
            active ? t`Could not resume ${name}` : t`Could not pause ${name}`,
            problemText(thrown).detail,
          );
        }
      },
      run: async ({ id, name }: Schedule) => {
        try {
          const made = await run(id);
          if (made.session) notifications.show({ title: t`${name} runs now`, message: made.session_name });
          else failed(t`${name} was not started`, reason(made.reason ?? ""));
        } catch (thrown) {
          failed(t`Could not run ${name}`, problemText(thrown).detail);
        }
      },
      remove: ({ id, name }: Schedule) =>
        askToConfirm({
          title: t`Delete recurring run`,
          closeLabel: t`Close`,
          confirm: t`Delete`,
          command: commandLine("carrel", "schedule", "rm", name),
          onConfirm: async () => {
            await remove(id);
            onRemoved();
          },
          children: (
            <Trans>
              Deletes <b>{name}</b> and the history of its runs. Its sessions are not affected.
            </Trans>
          ),
        }),
    };
  }, [t, refusal, problemText, reason, setActive, run, remove, onRemoved]);
}

export type ScheduleActs = ReturnType<typeof useScheduleActs>;
