import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Button, Group, Select, Skeleton, Text, TextInput } from "@mantine/core";
import { IconAdjustments } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { Problem } from "@/api/problem";
import type { Template } from "@/api/types";
import { isName } from "@/features/sessions/launcher/request";
import { useMe } from "@/me/use-me";
import { templatesShowQuery, useStartTemplate } from "@/queries/templates";
import { Form } from "@/ui/form/Form";
import { FormDrawer } from "@/ui/form/FormDrawer";
import { focusFirst, useProblemForm } from "@/ui/form/use-problem-form";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { ParameterField, useValueText } from "./ParameterField";
import { givenValues, initialValues, startCommand, valueFault } from "./values";

interface Props {
  id: string;
  opened: boolean;
  onClose: () => void;
  onEdit: (part: { form: string; open: undefined }) => void;
}

/** Starts a session from a template, by a form made from its parameters. */
export function StartDrawer({ id, opened, onClose, onEdit }: Props) {
  const { t } = useLingui();
  const template = useQuery({ ...templatesShowQuery(id), enabled: opened });
  const { data, error } = template;
  return (
    <FormDrawer
      opened={opened}
      onClose={onClose}
      size="lg"
      title={data ? t`Start ${data.name}` : t`Start from a template`}
      closeButtonProps={{ "aria-label": t`Close` }}
    >
      {data && (
        <StartForm
          key={`${data.id} ${data.revision}`}
          template={data}
          onDone={onClose}
          onEdit={() => onEdit({ form: data.id, open: undefined })}
        />
      )}
      {!data && error && <ProblemAlert problem={error} onRetry={() => void template.refetch()} />}
      {!data && !error && <Skeleton height={240} aria-busy />}
    </FormDrawer>
  );
}

type Values = { name: string; project: string; parameters: Record<string, string> };

function StartForm({
  template,
  onDone,
  onEdit,
}: {
  template: Template;
  onDone: () => void;
  onEdit: () => void;
}) {
  const { t } = useLingui();
  const me = useMe();
  const navigate = useNavigate();
  const valueText = useValueText();
  const start = useStartTemplate();
  const key = useRef(crypto.randomUUID?.() ?? `${Date.now()}`);
  const { parameters } = template;
  const form = useProblemForm<Values>(
    {
      initialValues: { name: "", project: template.project.name, parameters: initialValues(parameters) },
      validate: {
        name: (name) =>
          name === "" || isName(name) ? null : t`4 to 64 letters, digits or _; between them also . and -`,
        parameters: Object.fromEntries(
          parameters.map((one) => [
            one.name,
            (text: string) => {
              const fault = valueFault(one, text);
              return fault && valueText(one, fault);
            },
          ]),
        ),
      },
    },
    start.error,
  );
  const { setFieldError } = form;
  useEffect(() => {
    for (const name of refusedParameters(start.error)) setFieldError(`parameters.${name}`, true);
  }, [start.error, setFieldError]);
  const { name, project, parameters: values } = form.values;
  const given = givenValues(parameters, values);
  const send = form.onSubmit(
    () =>
      start.mutate(
        {
          id: template.id,
          key: key.current,
          parameters: given,
          ...(name ? { name } : {}),
          ...(project === template.project.name ? {} : { project }),
        },
        {
          onSuccess: (session) => {
            onDone();
            void navigate({ to: "/sessions", search: { session: session.id } });
          },
          onError: () => {
            // Another request is not a repeat of the refused one.
            key.current = crypto.randomUUID?.() ?? `${Date.now()}`;
          },
        },
      ),
    focusFirst(form),
  );
  const adjust = form.onSubmit(
    () =>
      void navigate({
        to: "/sessions",
        search: { launch: "new", template: template.id, values: given },
      }),
    focusFirst(form),
  );
  return (
    <Form
      onSubmit={send}
      submit={<Trans>Start</Trans>}
      onCancel={onDone}
      busy={start.isPending}
      problem={start.error}
      command={startCommand(template, values, name)}
      refusal={template.may_start ? null : t`Only members of its project can start it.`}
    >
      {template.description && <Text size="sm">{template.description}</Text>}
      {parameters.length === 0 && (
        <Text size="sm" c="dimmed">
          <Trans>The template has no parameters.</Trans>
        </Text>
      )}
      {parameters.map((one) => (
        <ParameterField key={one.name} parameter={one} {...form.getInputProps(`parameters.${one.name}`)} />
      ))}
      <TextInput
        label={t`Session name`}
        description={t`Optional. If empty, a name is generated.`}
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps("name")}
      />
      {me.projects.length > 1 && (
        <Select
          label={t`Project`}
          data={me.projects.map((one) => one.name)}
          allowDeselect={false}
          {...form.getInputProps("project")}
        />
      )}
      {template.owner.id !== me.user.id && template.shared && (
        <Alert color="gray" p="xs">
          <Trans>The session runs with your rights. The template is by {template.owner.email}.</Trans>
        </Alert>
      )}
      <Group gap="xs">
        <Button
          size="compact-sm"
          variant="subtle"
          leftSection={<IconAdjustments size={15} aria-hidden />}
          onClick={() => adjust()}
        >
          <Trans>Adjust in the launcher</Trans>
        </Button>
        {template.may_change && (
          <Button size="compact-sm" variant="subtle" onClick={onEdit}>
            <Trans>Edit template</Trans>
          </Button>
        )}
      </Group>
    </Form>
  );
}

/** The parameters whose values the server refused. */
function refusedParameters(thrown: unknown): string[] {
  const named = thrown instanceof Problem ? thrown.details.parameters : undefined;
  if (typeof named === "object" && named !== null) return Object.keys(named);
  const field = thrown instanceof Problem ? thrown.field : null;
  return field?.startsWith("parameters.") ? [field.slice("parameters.".length)] : [];
}
