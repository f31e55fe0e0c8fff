import { Trans, useLingui } from "@lingui/react/macro";
import { TextInput } from "@mantine/core";
import type { Policy } from "@/api/types";
import { useCopyPolicy } from "@/queries/policies";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { useProblemForm } from "@/ui/form/use-problem-form";

/** Asks for the name of a copied policy. */
export function CopyForm({ policy, onDone }: { policy: Policy; onDone: () => void }) {
  const { t } = useLingui();
  const copy = useCopyPolicy();
  const form = useProblemForm(
    {
      initialValues: { name: t`${policy.name} copy`.slice(0, 64) },
      validate: { name: (name: string) => (name.trim() === "" ? t`Enter a name.` : null) },
    },
    copy.error,
  );
  return (
    <Form
      onSubmit={form.onSubmit(({ name }) => copy.mutate({ id: policy.id, name }, { onSuccess: onDone }))}
      submit={<Trans>Copy</Trans>}
      onCancel={onDone}
      busy={copy.isPending}
      problem={copy.error}
      command={commandLine("carrel", "policy", "copy", policy.name, form.values.name)}
    >
      <TextInput
        label={t`Name of the copy`}
        description={t`The copy has the same limits and is not assigned to anyone.`}
        maxLength={64}
        autoComplete="off"
        data-autofocus
        {...form.getInputProps("name")}
      />
    </Form>
  );
}
