import { Trans, useLingui } from "@lingui/react/macro";
import { SegmentedControl, Text, Textarea, TextInput } from "@mantine/core";
import type { NewSshKey } from "@/api/types";
import { useAddSshKey } from "@/queries/ssh-keys";
import { shellQuote } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { focusFirst, useProblemForm } from "@/ui/form/use-problem-form";

interface Props {
  onClose: () => void;
  onMade: (made: NewSshKey) => void;
}

/** Adds a public key, or generates a key pair. */
export function SshKeyForm({ onClose, onMade }: Props) {
  const { t } = useLingui();
  const add = useAddSshKey();
  const form = useProblemForm(
    {
      initialValues: { name: "", way: "bring", public_key: "" },
      validate: {
        name: (value) => (value.trim() === "" ? t`Enter a name.` : null),
        public_key: (value, { way }) =>
          way === "bring" && value.trim() === ""
            ? t`Paste a public key, such as "ssh-ed25519 AAAA… ada@laptop".`
            : null,
      },
    },
    add.error,
  );
  const { name, way, public_key } = form.values;
  const bring = way === "bring";
  const file = bring ? " --file ~/.ssh/id_ed25519.pub" : "";
  const send = form.onSubmit(
    () =>
      add.mutate(
        { name: name.trim(), ...(bring ? { public_key: public_key.trim() } : {}) },
        {
          onSuccess: (made) => {
            onMade(made);
            onClose();
          },
        },
      ),
    focusFirst(form),
  );
  return (
    <Form
      onSubmit={send}
      submit={bring ? <Trans>Add key</Trans> : <Trans>Generate key pair</Trans>}
      onCancel={onClose}
      busy={add.isPending}
      problem={add.error}
      command={`carrel ssh-key add ${shellQuote(name.trim() || "NAME")}${file}`}
    >
      <TextInput
        label={t`Name`}
        description={t`The machine that uses it, such as "Work laptop".`}
        maxLength={64}
        data-autofocus
        {...form.getInputProps("name")}
      />
      <SegmentedControl
        aria-label={t`Source of the key`}
        data={[
          { value: "bring", label: t`Use an existing key` },
          { value: "make", label: t`Generate a key pair` },
        ]}
        {...form.getInputProps("way")}
      />
      {bring ? (
        <Textarea
          label={t`Public key`}
          description={t`The content of a file such as ~/.ssh/id_ed25519.pub`}
          placeholder="ssh-ed25519 AAAA…"
          autosize
          minRows={3}
          maxRows={8}
          spellCheck={false}
          styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
          {...form.getInputProps("public_key")}
        />
      ) : (
        <Text size="sm" c="dimmed">
          <Trans>
            The private key (Ed25519) is shown once. The server does not store it. For the best protection,
            generate the key pair on your own machine and add its public key here.
          </Trans>
        </Text>
      )}
    </Form>
  );
}
