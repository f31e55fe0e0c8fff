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

/** Asks for a public key, or has a pair made. */
export function SshKeyForm({ onClose, onMade }: Props) {
  const { t } = useLingui();
  const add = useAddSshKey();
  const form = useProblemForm(
    {
      initialValues: { name: "", way: "bring", public_key: "" },
      validate: {
        name: (value) => (value.trim() === "" ? t`Say where it is used.` : null),
        public_key: (value, { way }) =>
          way === "bring" && value.trim() === "" ? t`Paste a public key.` : null,
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
      submit={bring ? <Trans>Add the key</Trans> : <Trans>Make the pair</Trans>}
      onCancel={onClose}
      busy={add.isPending}
      problem={add.error}
      command={`carrel ssh-key add ${shellQuote(name.trim() || "NAME")}${file}`}
    >
      <TextInput
        label={t`Name`}
        description={t`Where it is used, such as a laptop.`}
        maxLength={64}
        data-autofocus
        {...form.getInputProps("name")}
      />
      <SegmentedControl
        aria-label={t`Which key`}
        data={[
          { value: "bring", label: t`A key that I have` },
          { value: "make", label: t`Make a pair for me` },
        ]}
        {...form.getInputProps("way")}
      />
      {bring ? (
        <Textarea
          label={t`Public key`}
          description={t`The one line of a file such as ~/.ssh/id_ed25519.pub`}
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
            The private half (Ed25519) is shown once, right after. The server does not keep it; a pair made on
            your own machine never leaves it.
          </Trans>
        </Text>
      )}
    </Form>
  );
}
