import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Stack } from "@mantine/core";
import { type ErrorComponentProps, useRouter } from "@tanstack/react-router";
import { Problem } from "@/api/problem";
import { PageTitle } from "@/ui/PageTitle";
import { ProblemAlert } from "@/ui/ProblemAlert";

/** The error page for a page that failed to load or to render. */
export function CrashPage({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const { t } = useLingui();
  const again = () => {
    reset();
    void router.invalidate();
  };
  const problem =
    error instanceof Problem
      ? error
      : new Problem({
          status: 0,
          code: "page.broken",
          detail: error instanceof Error ? error.message : String(error),
          hint: t`Reload the page.`,
        });
  return (
    <Stack maw={560} mx="auto" mih="60vh" justify="center" p="xl">
      <PageTitle>
        {problem.unreachable && problem.code !== "page.broken" ? (
          <Trans>The server is unreachable</Trans>
        ) : (
          <Trans>This page failed to load</Trans>
        )}
      </PageTitle>
      <ProblemAlert problem={problem} />
      <Group>
        <Button onClick={again}>
          <Trans>Try again</Trans>
        </Button>
        <Button variant="default" onClick={() => location.reload()}>
          <Trans>Reload</Trans>
        </Button>
      </Group>
    </Stack>
  );
}
