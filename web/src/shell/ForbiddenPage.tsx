import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { PageTitle } from "@/ui/PageTitle";
import { usePageTitle } from "@/ui/use-page-title";

/** Shown instead of an administration page that the user may not see. */
export function ForbiddenPage() {
  const { t } = useLingui();
  usePageTitle(t`No permission`);
  return (
    <Stack maw={560} mx="auto" mih="50vh" justify="center" p="xl">
      <PageTitle>
        <Trans>You do not have permission to see this page</Trans>
      </PageTitle>
      <Text>
        <Trans>It is for administrators. If you need it, ask one for a role that includes it.</Trans>
      </Text>
      <Group>
        <Button component={Link} to="/">
          <Trans>Go to the start page</Trans>
        </Button>
        <Button variant="default" component={Link} to="/settings/activity">
          <Trans>See your own activity</Trans>
        </Button>
      </Group>
    </Stack>
  );
}
