import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Switch, Text, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useNavigate } from "@tanstack/react-router";
import type { SessionCreate } from "@/api/types";
import { useCreateTemplate } from "@/queries/templates";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { FormModal } from "@/ui/form/FormDrawer";
import { focusFirst, useProblemForm } from "@/ui/form/use-problem-form";
import { useLast } from "@/ui/use-last";
import { literal } from "./values";

/** A session of the user, or a request of the launcher. */
export type TemplateSource = { from: string; name: string } | { request: SessionCreate };

interface Props {
  source: TemplateSource | undefined;
  onClose: () => void;
}

/** Saves a session or a request as a template. A form of its own: it is no part of a form that opens it. */
export function SaveTemplateDialog({ source, onClose }: Props) {
  const { t } = useLingui();
  const shown = useLast(source);
  return (
    <FormModal
      opened={source !== undefined}
      onClose={onClose}
      title={t`Save as template`}
      closeButtonProps={{ "aria-label": t`Close` }}
    >
      {shown && <SaveTemplateForm source={shown} onDone={onClose} />}
    </FormModal>
  );
}

const LASTS_MS = 15_000;
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{2,46}[A-Za-z0-9_]$/;

function SaveTemplateForm({ source, onDone }: { source: TemplateSource; onDone: () => void }) {
  const { t } = useLingui();
  const navigate = useNavigate();
  const create = useCreateTemplate();
  const suggested = "from" in source ? source.name : (source.request.name ?? "");
  const form = useProblemForm(
    {
      initialValues: { name: suggested.slice(0, 48), description: "", shared: false },
      validate: {
        name: (name: string) =>
          NAME.test(name) ? null : t`4 to 48 letters, digits or _; between them also . and -`,
      },
    },
    create.error,
  );
  const save = form.onSubmit((values) => {
    const content =
      "from" in source ? { from_session: source.from } : { session: literal(withoutName(source.request)) };
    create.mutate(
      { ...values, ...content },
      {
        onSuccess: (made) => {
          onDone();
          const id = `template-${made.id}`;
          const edit = () => {
            notifications.hide(id);
            void navigate({ to: "/templates", search: { form: made.id } });
          };
          notifications.show({
            id,
            title: t`Saved as template ${made.name}`,
            message: (
              <Button size="compact-sm" variant="default" onClick={edit}>
                <Trans>Add parameters</Trans>
              </Button>
            ),
            autoClose: LASTS_MS,
            closeButtonProps: { "aria-label": t`Close` },
          });
        },
      },
    );
  }, focusFirst(form));
  const { name, shared } = form.values;
  const words = ["carrel", "template", "create", name || "NAME"];
  return (
    <Form
      onSubmit={save}
      submit={<Trans>Save</Trans>}
      onCancel={onDone}
      busy={create.isPending}
      problem={create.error}
      command={commandLine(
        ...words,
        ...("from" in source ? ["--from-session", source.from] : ["-f", "template.yaml"]),
        ...(shared ? ["--share"] : []),
      )}
    >
      <Text size="sm" c="dimmed">
        <Trans>
          Saves the image, resources, folders, variables and options, without the name. Files in the session
          are not saved.
        </Trans>
      </Text>
      <TextInput
        label={t`Name of the template`}
        withAsterisk
        autoComplete="off"
        spellCheck={false}
        data-autofocus
        {...form.getInputProps("name")}
      />
      <TextInput label={t`Description`} maxLength={500} {...form.getInputProps("description")} />
      <Switch
        label={t`Share with the project`}
        description={t`The members of its project see and start it, and can read its variables in their sessions.`}
        {...form.getInputProps("shared", { type: "checkbox" })}
      />
    </Form>
  );
}

const withoutName = ({ name, ...others }: SessionCreate) => others;
