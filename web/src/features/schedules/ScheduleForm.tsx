import { Trans, useLingui } from "@lingui/react/macro";
import { Group, Select, Skeleton, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Schedule, SessionCreate } from "@/api/types";
import { useMe } from "@/me/use-me";
import { definitionQuery, useSaveSchedule } from "@/queries/schedules";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { FormDrawer } from "@/ui/form/FormDrawer";
import { focusFirst, useProblemForm } from "@/ui/form/use-problem-form";
import { zonesWith } from "@/ui/form/zones";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { repetitionOf, toCron, USUAL } from "./cron";
import { DefinitionInput } from "./DefinitionInput";
import { forgetDraft, keepDraft, keptDraft, type ScheduleDraft } from "./draft";
import { NextTimes } from "./NextTimes";
import { RepeatInput } from "./RepeatInput";
import { MISSED, OVERLAPS } from "./words";

const NAME_PATTERN = /^[A-Za-z0-9_][A-Za-z0-9_.-]{2,46}[A-Za-z0-9_]$/;

interface Props {
  opened: boolean;
  /** The schedule to edit; absent for a new one. */
  schedule: Schedule | undefined;
  onClose: () => void;
  onSaved: (schedule: Schedule) => void;
}

/** Creates or edits a schedule of recurring sessions. */
export function ScheduleFormDrawer({ opened, schedule, onClose, onSaved }: Props) {
  const { t } = useLingui();
  const close = () => {
    if (!schedule) forgetDraft();
    onClose();
  };
  return (
    <FormDrawer
      opened={opened}
      onClose={close}
      restored={!schedule}
      size="lg"
      title={schedule ? t`Edit ${schedule.name}` : t`New recurring run`}
      closeButtonProps={{ "aria-label": t`Close` }}
    >
      {schedule ? (
        <Edited schedule={schedule} onCancel={close} onSaved={onSaved} />
      ) : (
        <ScheduleForm
          schedule={undefined}
          given={keptDraft()}
          onCancel={close}
          onSaved={(made) => {
            forgetDraft();
            onSaved(made);
          }}
        />
      )}
    </FormDrawer>
  );
}

type FormProps = Pick<Props, "onSaved"> & { onCancel: () => void };

function Edited({ schedule, ...props }: FormProps & { schedule: Schedule }) {
  const definition = useQuery(definitionQuery(schedule.session as unknown as SessionCreate));
  if (definition.isError) return <ProblemAlert problem={definition.error} />;
  if (definition.data === undefined || definition.isPlaceholderData)
    return <Skeleton height={320} aria-busy />;
  return (
    <ScheduleForm
      key={schedule.id}
      schedule={schedule}
      given={draftOf(schedule, definition.data)}
      {...props}
    />
  );
}

const draftOf = (schedule: Schedule, text: string): ScheduleDraft => ({
  ...schedule,
  cron: repetitionOf(schedule.cron),
  text,
});

interface DraftProps extends FormProps {
  schedule: Schedule | undefined;
  given: Partial<ScheduleDraft>;
}

function ScheduleForm({ schedule, given, onCancel, onSaved }: DraftProps) {
  const { t, i18n } = useLingui();
  const usualZone = useMe().user.preferences?.timezone || Intl.DateTimeFormat().resolvedOptions().timeZone;
  const save = useSaveSchedule();
  const form = useProblemForm<ScheduleDraft>(
    {
      initialValues: {
        name: given.name ?? "",
        cron: given.cron ?? USUAL,
        timezone: given.timezone ?? usualZone,
        missed: given.missed ?? "skip",
        overlap: given.overlap ?? "allow",
        text: given.text ?? "",
      },
      validate: {
        name: (name) =>
          NAME_PATTERN.test(name) ? null : t`4 to 48 letters, digits or _; between them also . and -`,
        cron: (repetition) => (toCron(repetition) ? null : t`Enter a cron expression.`),
        text: (text) => (text.trim() ? null : t`Choose what to start.`),
      },
    },
    save.error,
  );
  const { name, timezone, missed, overlap, text } = form.values;
  const cron = toCron(form.values.cron);
  const { values } = form;
  useEffect(() => {
    if (!schedule) keepDraft(values);
  }, [schedule, values]);
  const submit = form.onSubmit(
    () =>
      save.mutate({ id: schedule?.id, name, cron, timezone, missed, overlap, text }, { onSuccess: onSaved }),
    focusFirst(form),
  );
  const words = (given: typeof OVERLAPS | typeof MISSED) =>
    Object.entries(given).map(([value, label]) => ({ value, label: i18n._(label) }));
  return (
    <Form
      onSubmit={submit}
      submit={schedule ? <Trans>Save</Trans> : <Trans>Create</Trans>}
      onCancel={onCancel}
      busy={save.isPending}
      problem={save.error}
      command={commandLine(
        ...["carrel", "schedule"],
        ...(schedule ? ["edit", schedule.name, "--name"] : ["create"]),
        name || "nightly",
        ...["--cron", cron, "--timezone", timezone],
        ...["--missed", missed, "--overlap", overlap, "-f", "job.yaml"],
      )}
    >
      <TextInput
        label={t`Name`}
        description={t`Its sessions are named after it, with the time of the run.`}
        withAsterisk
        maxLength={48}
        autoComplete="off"
        spellCheck={false}
        data-autofocus
        {...form.getInputProps("name")}
      />
      <RepeatInput
        value={form.values.cron}
        error={form.errors.cron}
        onChange={(part) => form.setFieldValue("cron", { ...form.values.cron, ...part })}
      />
      <Select
        label={t`Time zone`}
        searchable
        allowDeselect={false}
        data={zonesWith(timezone)}
        {...form.getInputProps("timezone")}
      />
      <NextTimes cron={cron} timezone={timezone} />
      <DefinitionInput
        value={text}
        error={form.errors.text}
        onChange={(next) => form.setFieldValue("text", next)}
        onLeave={() => form.resetDirty()}
      />
      <Group grow align="flex-start">
        <Select
          label={t`If an earlier run is not over`}
          allowDeselect={false}
          data={words(OVERLAPS)}
          {...form.getInputProps("overlap")}
        />
        <Select
          label={t`Runs missed while Carrel was down`}
          allowDeselect={false}
          data={words(MISSED)}
          {...form.getInputProps("missed")}
        />
      </Group>
    </Form>
  );
}
