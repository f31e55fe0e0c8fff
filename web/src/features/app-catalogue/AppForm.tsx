import { Trans, useLingui } from "@lingui/react/macro";
import { Group, NumberInput, Select, Switch, Textarea, TextInput } from "@mantine/core";
import type { AppTemplate } from "@/api/types";
import { useMe } from "@/me/use-me";
import { useCreateAppTemplate, useUpdateAppTemplate } from "@/queries/app-templates";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { focusFirst, useProblemForm } from "@/ui/form/use-problem-form";
import { type AppValues, appValuesOf, argumentsOf, definitionOf, lines } from "./app-values";
import { IconSelect } from "./IconSelect";
import { OptionRows } from "./OptionRows";

const NAME = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/;
const PLACEHOLDERS = "{port}, {secret}, {base_url}";
/** Inputs of one row stay level. */
const BELOW = ["label", "input", "description", "error"] as const;
const mono = { input: { fontFamily: "var(--mantine-font-family-monospace)", fontSize: "0.8125rem" } };

interface Props {
  /** The app template to edit or to copy; absent for an empty form. */
  source: AppTemplate | undefined;
  isNew: boolean;
  onDone: () => void;
}

/** The fields of an app template. */
export function AppForm({ source, isNew, onDone }: Props) {
  const { t } = useLingui();
  const me = useMe();
  const create = useCreateAppTemplate();
  const update = useUpdateAppTemplate();
  const problem = create.error ?? update.error;
  const form = useProblemForm<AppValues>(
    {
      initialValues: appValuesOf(source),
      validate: {
        name: (name) => (NAME.test(name) ? null : t`At most 40 lower-case letters, digits and -`),
        title: (title) => (title.trim() ? null : t`It needs a title`),
        port: (port) => (Number(port) >= 1 && Number(port) <= 65_535 ? null : t`1 to 65535`),
        command: (command) =>
          argumentsOf(command) ? null : t`One argument on each line, or a JSON list of strings`,
        env: (env) => (lines(env).every((line) => line.indexOf("=") > 0) ? null : t`NAME=VALUE on each line`),
      },
    },
    problem,
  );
  const { owner, protocol } = form.values;
  const isSuper = me.user.role === "superadmin";
  const owners = [
    { value: "person", label: t`Your sessions` },
    ...me.projects
      .filter(({ admin }) => admin || isSuper)
      .map(({ id, name }) => ({ value: id, label: t`Sessions of ${name}` })),
    ...(isSuper ? [{ value: "installation", label: t`All sessions` }] : []),
  ];
  const save = form.onSubmit((values) => {
    const definition = definitionOf(values);
    if (!isNew && source) return update.mutate({ id: source.id, ...definition }, { onSuccess: onDone });
    const whose =
      owner === "person" ? {} : owner === "installation" ? { installation: true } : { project: owner };
    create.mutate({ name: values.name, ...definition, ...whose }, { onSuccess: onDone });
  }, focusFirst(form));
  const flags =
    owner === "person" ? [] : owner === "installation" ? ["--installation"] : ["--project", owner];
  return (
    <Form
      onSubmit={save}
      submit={isNew ? <Trans>Create</Trans> : <Trans>Save</Trans>}
      onCancel={onDone}
      busy={create.isPending || update.isPending}
      problem={problem}
      refusal={isNew || source?.may_change ? null : t`Only those whose it is can change it.`}
      command={commandLine(
        "carrel",
        "app-template",
        ...(isNew ? ["create", ...flags] : ["edit", source?.id ?? ""]),
        "-f",
        "app.yaml",
      )}
    >
      {isNew && (
        <Select label={t`For`} allowDeselect={false} data={owners} {...form.getInputProps("owner")} />
      )}
      <Group grow align="flex-start">
        <TextInput label={t`Title`} withAsterisk data-autofocus {...form.getInputProps("title")} />
        <TextInput
          label={t`Name`}
          description={t`In its address`}
          inputWrapperOrder={[...BELOW]}
          withAsterisk
          spellCheck={false}
          readOnly={!isNew}
          {...form.getInputProps("name")}
        />
        <IconSelect {...form.getInputProps("icon")} />
      </Group>
      <Textarea
        label={t`Command`}
        description={t`One argument on each line. ${PLACEHOLDERS} and the names of options in braces stand for their values.`}
        autosize
        minRows={3}
        spellCheck={false}
        styles={mono}
        {...form.getInputProps("command")}
      />
      <Group grow align="flex-start">
        <Select
          label={t`Protocol`}
          allowDeselect={false}
          data={[
            { value: "http", label: "HTTP" },
            { value: "tcp", label: "TCP" },
          ]}
          {...form.getInputProps("protocol")}
        />
        <NumberInput label={t`Port`} withAsterisk allowDecimal={false} {...form.getInputProps("port")} />
      </Group>
      <Group grow align="flex-start">
        <TextInput
          label={t`Required program`}
          description={t`Offered where it exists; empty: everywhere`}
          inputWrapperOrder={[...BELOW]}
          spellCheck={false}
          {...form.getInputProps("requires")}
        />
        <TextInput label={t`How to get it`} placeholder="pip install …" {...form.getInputProps("hint")} />
      </Group>
      {protocol === "http" && (
        <>
          <Group grow align="flex-start">
            <TextInput
              label={t`Ready path`}
              description={t`Empty: an open port is enough`}
              spellCheck={false}
              {...form.getInputProps("ready")}
            />
            <TextInput
              label={t`Path`}
              description={t`Where its pages begin, perhaps with a query`}
              spellCheck={false}
              {...form.getInputProps("path")}
            />
          </Group>
          <TextInput
            label={t`Authentication header`}
            placeholder="Authorization: token {secret}"
            spellCheck={false}
            {...form.getInputProps("auth_header")}
          />
        </>
      )}
      <Textarea
        label={t`Environment variables`}
        description={t`NAME=VALUE on each line`}
        autosize
        minRows={2}
        spellCheck={false}
        styles={mono}
        {...form.getInputProps("env")}
      />
      <OptionRows
        options={form.values.options}
        onChange={(options) => form.setFieldValue("options", options)}
      />
      <Switch
        label={t`Offer it`}
        description={t`If not, it also hides apps of the same name that are further away`}
        {...form.getInputProps("enabled", { type: "checkbox" })}
      />
    </Form>
  );
}
