import { Trans, useLingui } from "@lingui/react/macro";
import { Select, TextInput } from "@mantine/core";
import type { Environment } from "@/api/types";
import { useUpdateEnvironment } from "@/queries/environments";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { useProblemForm } from "@/ui/form/use-problem-form";

/** Changes an environment. */
export function EnvironmentForm({ environment }: { environment: Environment }) {
  const { t } = useLingui();
  const update = useUpdateEnvironment();
  const { id, name, description, default_version, versions } = environment;
  const initialValues = { name, description, default_version: default_version ?? "" };
  const form = useProblemForm({ initialValues }, update.error);
  const { values } = form;
  const save = form.onSubmit(({ default_version: chosen, ...fields }) =>
    update.mutate({
      id,
      ...fields,
      ...(chosen && chosen !== default_version ? { default_version: chosen } : {}),
    }),
  );
  const ready = versions.filter(({ state }) => state === "ready").map((version) => version.name);
  return (
    <Form
      onSubmit={save}
      submit={<Trans>Save</Trans>}
      busy={update.isPending}
      blocked={!form.isDirty()}
      problem={update.error}
      command={commandLine(
        "carrel",
        "environment",
        "edit",
        id,
        ...(values.name === name ? [] : ["--name", values.name]),
        ...(values.description === description ? [] : ["--description", values.description]),
        ...(values.default_version === default_version ? [] : ["--default", values.default_version]),
      )}
    >
      <TextInput label={t`Name`} autoComplete="off" spellCheck={false} {...form.getInputProps("name")} />
      <TextInput label={t`Description`} maxLength={500} {...form.getInputProps("description")} />
      {ready.length > 0 && (
        <Select
          label={t`Sessions start from`}
          data={ready}
          allowDeselect={false}
          {...form.getInputProps("default_version")}
        />
      )}
    </Form>
  );
}
