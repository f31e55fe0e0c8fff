import { Trans, useLingui } from "@lingui/react/macro";
import { Checkbox, NumberInput, Text } from "@mantine/core";
import type { Keypair } from "@/api/types";
import { useUpdateKeypair } from "@/queries/keypairs";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { useProblemForm } from "@/ui/form/use-problem-form";

/** The request rate limit of a keypair. */
export function RateLimitForm({ keypair, onDone }: { keypair: Keypair; onDone: () => void }) {
  const { t } = useLingui();
  const update = useUpdateKeypair();
  const form = useProblemForm(
    { initialValues: { usual: keypair.rate_limit === null, rate_limit: keypair.rate_limit ?? 10_000 } },
    update.error,
  );
  const { usual, rate_limit } = form.values;
  return (
    <Form
      onSubmit={form.onSubmit(() =>
        update.mutate(
          { key: keypair.access_key, rate_limit: usual ? null : rate_limit },
          { onSuccess: onDone },
        ),
      )}
      submit={<Trans>Save</Trans>}
      onCancel={onDone}
      busy={update.isPending}
      problem={update.error}
      command={commandLine(
        "carrel",
        "keypair",
        "update",
        keypair.access_key,
        "--rate-limit",
        usual ? "0" : String(rate_limit),
      )}
    >
      <Checkbox label={t`Site default`} {...form.getInputProps("usual", { type: "checkbox" })} />
      <NumberInput
        label={t`Requests in 15 minutes`}
        min={1}
        max={1_000_000}
        disabled={usual}
        {...form.getInputProps("rate_limit")}
      />
      {!usual && rate_limit <= 100 && (
        <Text size="sm" c="var(--carrel-busy)">
          <Trans>A limit this low can block the command line.</Trans>
        </Text>
      )}
    </Form>
  );
}
