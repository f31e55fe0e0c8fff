import { Trans, useLingui } from "@lingui/react/macro";
import { Text, TextInput } from "@mantine/core";
import type { Keypair, NewKeypair } from "@/api/types";
import { useCreateKeypair, useUpdateKeypair } from "@/queries/keypairs";
import { shellQuote } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { FormDrawer } from "@/ui/form/FormDrawer";
import { useProblemForm } from "@/ui/form/use-problem-form";
import { useLast } from "@/ui/use-last";
import { useReturnFocus } from "@/ui/use-return-focus";

interface Props {
  opened: boolean;
  /** The keypair to edit; absent for a new one. */
  keypair: Keypair | undefined;
  onClose: () => void;
  onMade: (made: NewKeypair) => void;
}

/** Form for a new or an existing keypair. */
export function KeypairDrawer({ opened, keypair, onClose, onMade }: Props) {
  const { t } = useLingui();
  useReturnFocus(opened);
  const subject = useLast(opened ? { keypair } : undefined)?.keypair;
  return (
    <FormDrawer
      opened={opened}
      onClose={onClose}
      title={subject ? t`Rename keypair` : t`Create keypair`}
      closeButtonProps={{ "aria-label": t`Close` }}
      size="28rem"
    >
      {subject ? (
        <NameForm key={subject.access_key} keypair={subject} onClose={onClose} />
      ) : (
        <NewForm onClose={onClose} onMade={onMade} />
      )}
    </FormDrawer>
  );
}

function NewForm({ onClose, onMade }: Pick<Props, "onClose" | "onMade">) {
  const { t } = useLingui();
  const create = useCreateKeypair();
  const form = useProblemForm({ initialValues: { name: "" } }, create.error);
  const name = form.values.name.trim();
  const done = (made: NewKeypair) => {
    onMade(made);
    onClose();
  };
  return (
    <Form
      onSubmit={form.onSubmit(() => create.mutate({ name }, { onSuccess: done }))}
      submit={<Trans>Create keypair</Trans>}
      onCancel={onClose}
      busy={create.isPending}
      problem={create.error}
      command={`carrel keypair create${name ? ` --name ${shellQuote(name)}` : ""}`}
    >
      <TextInput
        label={t`Name`}
        description={t`Optional. What it is for, such as "nightly training".`}
        maxLength={64}
        data-autofocus
        {...form.getInputProps("name")}
      />
      <Text size="sm" c="dimmed">
        <Trans>The secret key is shown once, after the keypair is created.</Trans>
      </Text>
    </Form>
  );
}

function NameForm({ keypair, onClose }: { keypair: Keypair; onClose: () => void }) {
  const { t } = useLingui();
  const update = useUpdateKeypair();
  const form = useProblemForm({ initialValues: { name: keypair.name } }, update.error);
  const name = form.values.name.trim();
  return (
    <Form
      onSubmit={form.onSubmit(() => update.mutate({ key: keypair.access_key, name }, { onSuccess: onClose }))}
      submit={<Trans>Save</Trans>}
      onCancel={onClose}
      busy={update.isPending}
      problem={update.error}
      command={`carrel keypair update ${keypair.access_key} --name ${shellQuote(name)}`}
    >
      <TextInput
        label={t`Name`}
        description={keypair.access_key}
        maxLength={64}
        data-autofocus
        {...form.getInputProps("name")}
      />
    </Form>
  );
}
