import { Trans } from "@lingui/react/macro";
import { Button, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { PageTitle } from "@/ui/PageTitle";

export function NotFoundPage() {
  return (
    <Stack component="main" align="center" justify="center" mih="60vh" p="xl" gap="sm">
      <PageTitle>
        <Trans>Page not found</Trans>
      </PageTitle>
      <Text c="dimmed" ta="center">
        <Trans>The link may be out of date or mistyped.</Trans>
      </Text>
      <Button component={Link} to="/" variant="light">
        <Trans>Go to the start page</Trans>
      </Button>
    </Stack>
  );
}
