import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Stack, TextInput, Title } from "@mantine/core";
import { useState } from "react";
import type { Provider } from "@/api/types";
import { useTestProvider } from "@/queries/providers";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { StepResults } from "@/ui/StepResults";

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
      {test.data && <StepResults ok={test.data.ok} steps={test.data.steps} />}
    </Stack>
  );
}
