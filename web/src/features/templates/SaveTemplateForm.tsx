import { Trans, useLingui } from "@lingui/react/macro";
import { Anchor, Switch, Text, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { Link } from "@tanstack/react-router";
import type { SessionCreate } from "@/api/types";
import { useCreateTemplate } from "@/queries/templates";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { openFormDialog } from "@/ui/form/FormDialog";
import { focusFirst, useProblemForm } from "@/ui/form/use-problem-form";
import { literal } from "./values";

/** A session of the user, or a request of the launcher. */
type Source = { from: string; name: string } | { request: SessionCreate };

/** Opens the form that saves a session or a request as a template. */
export function useSaveTemplate(): (source: Source) => void {
  const { t } = useLingui();
  return (source) =>
    openFormDialog({
      title: t`Save as template`,
      form: (close) => <SaveTemplateForm source={source} onDone={close} />,
    });
}

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{2,46}[A-Za-z0-9_]$/;

function SaveTemplateForm({ source, onDone }: { source: Source; onDone: () => void }) {
  const { t } = useLingui();
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
          notifications.show({
            title: t`Saved as template ${made.name}`,
            message: (
              <Anchor
                size="sm"
                underline="always"
                renderRoot={(props) => <Link {...props} to="/templates" search={{ form: made.id }} />}
              >
                <Trans>Add parameters</Trans>
              </Anchor>
            ),
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
