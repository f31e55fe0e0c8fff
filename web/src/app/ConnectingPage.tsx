import { Trans } from "@lingui/react/macro";
import { AppShell, Group, Skeleton, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { authMeQuery } from "@/queries/auth";
import { Logo } from "@/ui/Logo";

/** The page frame until the server has answered who is signed in. */
export function ConnectingPage() {
  const { failureCount } = useQuery({ ...authMeQuery, enabled: false });
  return (
    <AppShell header={{ height: "3rem" }} padding="md">
      <AppShell.Header>
        <Group gap="xs" h="100%" px="sm">
          <Logo />
          <Text fw={600}>Carrel</Text>
        </Group>
      </AppShell.Header>
      <AppShell.Main>
        <Stack maw={720} mx="auto" gap="sm">
          {failureCount > 0 && (
            <Text component="output">
              <Trans>The server does not answer. This page opens as soon as it does.</Trans>
            </Text>
          )}
          <Skeleton height={28} width="40%" />
          <Skeleton height={120} />
          <Skeleton height={120} />
        </Stack>
      </AppShell.Main>
    </AppShell>
  );
}
