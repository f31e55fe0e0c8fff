import { Trans, useLingui } from "@lingui/react/macro";
import { List, Text, ThemeIcon } from "@mantine/core";
import { IconCheck, IconX } from "@tabler/icons-react";

interface Props {
  ok: boolean;
  steps: readonly { name: string; ok: boolean; sentence: string }[];
  /** The displayed name of a step; its own by default. */
  nameOf?: (name: string) => string;
}

/** The result of a test, and of each of its steps. */
export function StepResults({ ok, steps, nameOf = (name) => name }: Props) {
  const { t } = useLingui();
  return (
    <div role="status">
      <Text size="sm" fw={600} mb={4}>
        {ok ? <Trans>The test succeeded.</Trans> : <Trans>The test failed.</Trans>}
      </Text>
      <List size="sm" center spacing={4}>
        {steps.map((step) => (
          <List.Item
            key={step.name}
            icon={
              <ThemeIcon
                size={18}
                radius="xl"
                color={step.ok ? "lamp" : "red"}
                aria-label={step.ok ? t`succeeded` : t`failed`}
                role="img"
              >
                {step.ok ? <IconCheck size={12} aria-hidden /> : <IconX size={12} aria-hidden />}
              </ThemeIcon>
            }
          >
            <b>{nameOf(step.name)}</b>: {step.sentence}
          </List.Item>
        ))}
      </List>
    </div>
  );
}
