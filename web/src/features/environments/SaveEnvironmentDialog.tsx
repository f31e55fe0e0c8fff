import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Autocomplete, Button, Select, Skeleton, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { SessionDetail } from "@/api/types";
import { useMe } from "@/me/use-me";
import { environmentsChoiceQuery, savePreviewQuery, useSaveSession } from "@/queries/environments";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { FormModal } from "@/ui/form/FormDrawer";
import { focusFirst, useProblemForm } from "@/ui/form/use-problem-form";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { SavedParts } from "./SavedParts";
import { NAME, VERSION } from "./words";

interface Props {
  session: SessionDetail;
  opened: boolean;
  onClose: () => void;
}

/** Saves a running session as an environment; says first what is kept and what is not. */
export function SaveEnvironmentDialog({ session, opened, onClose }: Props) {
  const { t } = useLingui();
  return (
    <FormModal
      opened={opened}
      onClose={onClose}
      size="lg"
      title={t`Save as environment`}
      closeButtonProps={{ "aria-label": t`Close` }}
    >
      {opened && <SaveForm session={session} onDone={onClose} />}
    </FormModal>
  );
}

const LASTS_MS = 15_000;

function SaveForm({ session, onDone }: { session: SessionDetail; onDone: () => void }) {
  const { t } = useLingui();
  const me = useMe();
  const navigate = useNavigate();
  const save = useSaveSession();
  const preview = useQuery(savePreviewQuery(session.id));
  const own = (useQuery(environmentsChoiceQuery).data ?? []).filter(({ may_change }) => may_change);
  const form = useProblemForm(
    {
      initialValues: { name: "", version: "", note: "", project: "" },
      validate: {
        name: (name: string) =>
          NAME.test(name) ? null : t`2 to 40 letters or digits; between them also _ . and -`,
        version: (version: string) =>
          VERSION.test(version) ? null : t`At most 18 letters, digits, _ . or -`,
      },
    },
    save.error,
  );
  const submit = form.onSubmit(({ name, note, version, project }) => {
    const optional = { ...(version && { version }), ...(project && { project }) };
    save.mutate(
      { session: session.id, name, note, ...optional },
      {
        onSuccess: (made) => {
          onDone();
          const id = `environment-${made.id}`;
          const show = () => {
            notifications.hide(id);
            void navigate({ to: "/my-environments", search: { open: made.id } });
          };
          notifications.show({
            id,
            title: t`${session.name} is being saved as ${made.name}`,
            message: (
              <Button size="compact-sm" variant="default" onClick={show}>
                <Trans>Show environment</Trans>
              </Button>
            ),
            autoClose: LASTS_MS,
            closeButtonProps: { "aria-label": t`Close` },
          });
        },
      },
    );
  }, focusFirst(form));
  const { name, version, note, project } = form.values;
  const projectName = me.projects.find((one) => one.id === project)?.name ?? project;
  return (
    <Form
      onSubmit={submit}
      submit={<Trans>Save</Trans>}
      onCancel={onDone}
      busy={save.isPending}
      problem={save.error}
      refusal={preview.data?.refusal ?? null}
      command={commandLine(
        ...["carrel", "session", "save", session.id],
        `${name || "NAME"}${version && `:${version}`}`,
        ...(note ? ["--note", note] : []),
        ...(project ? ["--project", projectName] : []),
      )}
    >
      <Autocomplete
        label={t`Name of the environment`}
        description={t`An existing one gets another version.`}
        withAsterisk
        autoComplete="off"
        spellCheck={false}
        data-autofocus
        data={[...new Set(own.map((one) => one.name))]}
        {...form.getInputProps("name")}
      />
      <TextInput
        label={t`Version`}
        description={t`If empty, it is the next number.`}
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps("version")}
      />
      <TextInput label={t`Note`} maxLength={500} {...form.getInputProps("note")} />
      <Select
        label={t`Belongs to`}
        allowDeselect={false}
        data={[
          { value: "", label: t`You` },
          ...me.projects.map((one) => ({ value: one.id, label: t`Project ${one.name}` })),
        ]}
        {...form.getInputProps("project")}
      />
      {preview.isPending && <Skeleton height={160} aria-busy />}
      {preview.isError && <ProblemAlert problem={preview.error} onRetry={() => void preview.refetch()} />}
      {preview.data?.refusal && <Alert color="red">{preview.data.refusal}</Alert>}
      {preview.data && !preview.data.refusal && <SavedParts preview={preview.data} />}
    </Form>
  );
}
