import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, List, Stack, Text, TextInput, ThemeIcon, Title } from "@mantine/core";
import { IconCheck, IconX } from "@tabler/icons-react";
import { useState } from "react";
import type { Provider } from "@/api/types";
import { useTestProvider } from "@/queries/providers";
import { ProblemAlert } from "@/ui/ProblemAlert";

/** Tests the saved provider and shows the result of each step. */
export function TestProvider({ provider }: { provider: Provider }) {
  const { t } = useLingui();
  const test = useTestProvider();
  const [login, setLogin] = useState("");
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        <Trans>Test</Trans>
      </Title>
      <Group align="flex-end" gap="xs">
        {provider.redirect_uri === null && (
          <TextInput
            style={{ flex: 1 }}
            label={t`User to look up`}
            placeholder="ada"
            value={login}
            onChange={(event) => setLogin(event.currentTarget.value)}
          />
        )}
        <Button
          variant="default"
          loading={test.isPending}
          onClick={() => test.mutate({ id: provider.id, login })}
        >
          <Trans>Test now</Trans>
        </Button>
      </Group>
      {test.error && <ProblemAlert problem={test.error} />}
      {test.data && (
        <div role="status">
          <Text size="sm" fw={600} mb={4}>
            {test.data.ok ? <Trans>The test succeeded.</Trans> : <Trans>The test failed.</Trans>}
          </Text>
          <List size="sm" center spacing={4}>
            {test.data.steps.map((step) => (
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
                <b>{step.name}</b>: {step.sentence}
              </List.Item>
            ))}
          </List>
        </div>
      )}
    </Stack>
  );
}
