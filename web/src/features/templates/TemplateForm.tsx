import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Switch, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { Problem } from "@/api/problem";
import type { Parameter, TemplateDetail } from "@/api/types";
import { useSaveTemplate } from "@/queries/templates";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { focusFirst, useProblemForm } from "@/ui/form/use-problem-form";
import { ParameterRows } from "./ParameterRows";
import { type ParameterRow, parameterRow, toParameter } from "./parameter-rows";

type Values = {
  name: string;
  description: string;
  shared: boolean;
  parameters: ParameterRow[];
  text: string;
};

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{2,46}[A-Za-z0-9_]$/;
const FRESH = "image: starter\ncpu: 1\nmem: 1g\n";

// biome-ignore lint/suspicious/noTemplateCurlyInString: a reference to a parameter
const REFERENCE = "${name}";
const ESCAPED = "$${";
const OPENING = "${";

interface Props {
  /** The template to edit; absent for a new one. */
  template: TemplateDetail | undefined;
  onDone: () => void;
  /** Loads the template again. */
  onReload: () => Promise<{ data: TemplateDetail | undefined }>;
}

/** The fields of a template; its definition is a text in YAML. */
export function TemplateForm({ template, onDone, onReload }: Props) {
  const { t } = useLingui();
  const sent = useSaveTemplate();
  const [revision, setRevision] = useState(template?.revision);
  const form = useProblemForm<Values>(
    {
      initialValues: valuesOf(template),
      validate: {
        name: (name) => (NAME.test(name) ? null : t`4 to 48 letters, digits or _; between them also . and -`),
      },
    },
    sent.error,
  );
  const save = form.onSubmit(
    ({ parameters, ...others }) =>
      sent.mutate(
        { id: template?.id, revision, ...others, parameters: parameters.map(toParameter) },
        { onSuccess: onDone },
      ),
    focusFirst(form),
  );
  const changed = sent.error instanceof Problem && sent.error.code === "template.changed";
  const reload = async () => {
    const { data } = await onReload();
    if (!data) return;
    form.setInitialValues(valuesOf(data));
    form.setValues(valuesOf(data));
    setRevision(data.revision);
    sent.reset();
  };
  return (
    <Form
      onSubmit={save}
      submit={template ? <Trans>Save</Trans> : <Trans>Create</Trans>}
      onCancel={onDone}
      busy={sent.isPending}
      problem={sent.error}
      command={commandLine(
        ...[
          "carrel",
          "template",
          ...(template ? ["edit", template.name] : ["create", form.values.name || "NAME"]),
        ],
        ...["-f", "template.yaml"],
        ...(form.values.shared ? ["--share"] : []),
      )}
      notice={
        changed && (
          <Button size="xs" variant="default" onClick={() => void reload()}>
            <Trans>Discard my changes and load the latest revision</Trans>
          </Button>
        )
      }
    >
      <TextInput
        label={t`Name`}
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
      <ParameterRows
        rows={form.values.parameters}
        error={form.errors.parameters}
        onChange={(rows) => form.setFieldValue("parameters", rows)}
      />
      <Textarea
        label={t`Definition`}
        description={t`In YAML, with the fields of a session request. Write ${REFERENCE} for the value of a parameter, and ${ESCAPED} for the text ${OPENING}.`}
        autosize
        minRows={10}
        maxRows={28}
        spellCheck={false}
        styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)", fontSize: "0.8125rem" } }}
        {...form.getInputProps("text")}
      />
    </Form>
  );
}

const valuesOf = (template: TemplateDetail | undefined): Values => ({
  name: template?.name ?? "",
  description: template?.description ?? "",
  shared: template?.shared ?? false,
  parameters: (template?.parameters ?? []).map((one: Parameter) => parameterRow(one)),
  text: template?.text ?? FRESH,
});
