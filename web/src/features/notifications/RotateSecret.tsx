import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Popover, Select, Stack } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useState } from "react";
import type { NewWebhook } from "@/api/types";
import { useRotateWebhook } from "@/queries/notifications";
import { CommandLine } from "@/ui/CommandLine";
import { ProblemAlert } from "@/ui/ProblemAlert";

const HOUR_S = 3600;
const DAY_S = 24 * HOUR_S;

interface Props {
  webhook: string;
  onRotated: (made: NewWebhook) => void;
}

/** Replaces the secret of a webhook, with an overlap in which both secrets are valid. */
export function RotateSecret({ webhook, onRotated }: Props) {
  const { t } = useLingui();
  const [opened, { toggle, close }] = useDisclosure(false);
  const [overlap, setOverlap] = useState(String(DAY_S));
  const rotate = useRotateWebhook();
  const option = overlap === "0" ? "--at-once" : `--overlap ${Number(overlap) / HOUR_S}h`;
  return (
    <Popover opened={opened} onChange={close} trapFocus withArrow shadow="md" width={320}>
      <Popover.Target>
        <Button size="compact-sm" variant="default" onClick={toggle}>
          <Trans>Replace secret…</Trans>
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs">
          <Select
            label={t`The present secret remains valid`}
            description={t`Until then, deliveries have two signatures.`}
            allowDeselect={false}
            comboboxProps={{ withinPortal: false }}
            data={[
              { value: "0", label: t`not any longer` },
              { value: String(HOUR_S), label: t`for 1 hour` },
              { value: String(DAY_S), label: t`for 24 hours` },
              { value: String(7 * DAY_S), label: t`for 7 days` },
            ]}
            value={overlap}
            onChange={(value) => value && setOverlap(value)}
          />
          <CommandLine text={`carrel webhook rotate ${webhook} ${option}`} />
          {rotate.error && <ProblemAlert problem={rotate.error} />}
          <Group justify="flex-end">
            <Button
              size="xs"
              loading={rotate.isPending}
              onClick={() =>
                rotate.mutate(
                  { webhook, overlap_s: Number(overlap) },
                  {
                    onSuccess: (made) => {
                      close();
                      onRotated(made);
                    },
                  },
                )
              }
            >
              <Trans>Replace secret</Trans>
            </Button>
          </Group>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
