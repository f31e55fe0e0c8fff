import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Input, Stack, TextInput } from "@mantine/core";
import type { ImageScan } from "@/api/types";
import { useEndExemption, useExemptImage } from "@/queries/image-scans";
import { commandLine } from "@/ui/command";
import { DateField } from "@/ui/form/DateField";
import { Form } from "@/ui/form/Form";
import { useProblemForm } from "@/ui/form/use-problem-form";
import { ProblemAlert } from "@/ui/ProblemAlert";

/** Exempts an image from the rule on vulnerabilities, for a reason and until a date; or ends that. */
export function ExemptionForm({ scan }: { scan: ImageScan }) {
  const { t } = useLingui();
  const exempt = useExemptImage();
  const end = useEndExemption();
  const form = useProblemForm(
    {
      initialValues: { reason: "", until: "" },
      validate: {
        reason: (reason: string) => (reason.trim().length < 3 ? t`Enter a reason.` : null),
        until: (until: string) => (until ? null : t`Enter a date.`),
      },
    },
    exempt.error,
  );
  if (scan.exemption)
    return (
      <Stack gap="xs" align="flex-start">
        <Button variant="default" size="xs" loading={end.isPending} onClick={() => end.mutate(scan.id)}>
          <Trans>End exemption</Trans>
        </Button>
        {end.error && <ProblemAlert problem={end.error} />}
      </Stack>
    );
  const { reason, until } = form.values;
  const submit = form.onSubmit((values) =>
    exempt.mutate({ id: scan.id, reason: values.reason, until: `${values.until}T23:59:59Z` }),
  );
  return (
    <Form
      onSubmit={submit}
      submit={<Trans>Exempt from the rule</Trans>}
      busy={exempt.isPending}
      problem={exempt.error}
      command={commandLine(
        ...["carrel", "image", "exempt", scan.reference],
        ...["--until", until || "DATE", "--reason", reason || "REASON"],
      )}
    >
      <TextInput label={t`Reason of the exemption`} maxLength={500} {...form.getInputProps("reason")} />
      <Input.Wrapper label={t`Exempt until`} error={form.errors.until}>
        <DateField
          label={t`Exempt until`}
          value={until}
          onChange={(date) => form.setFieldValue("until", date)}
        />
      </Input.Wrapper>
    </Form>
  );
}
