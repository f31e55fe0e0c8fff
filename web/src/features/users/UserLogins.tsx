import { Trans, useLingui } from "@lingui/react/macro";
import { Badge, Group, Paper, Skeleton, Stack, Text } from "@mantine/core";
import { IconLogout, IconShieldOff } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { UserDetail } from "@/api/types";
import { Method } from "@/features/account/login-columns";
import { loginsOfQuery, useEndLogins } from "@/queries/logins";
import { EmptyState } from "@/ui/EmptyState";
import { Instant } from "@/ui/Instant";
import { MainButton } from "@/ui/MainButton";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { RowTool } from "@/ui/table/RowTool";
import type { UserActs } from "./use-user-acts";

/** The sign-ins and second factors of a user. */
export function UserLogins({ user, acts }: { user: UserDetail; acts: UserActs }) {
  const { t } = useLingui();
  const logins = useQuery(loginsOfQuery(user.id));
  const end = useEndLogins();
  const whyNot = acts.why("login.remove", user);
  const noFactor = user.second_factor ? null : t`Two-factor authentication is not set up.`;
  return (
    <Stack>
      <Group gap="xs">
        <MainButton
          variant="default"
          icon={IconLogout}
          label={t`Sign out of all browsers`}
          refusal={whyNot ?? (logins.data?.length === 0 ? t`Not signed in.` : null)}
          loading={end.isPending}
          onClick={() => end.mutate({ user: user.id })}
        />
        <MainButton
          variant="default"
          icon={IconShieldOff}
          label={t`Reset two-factor authentication…`}
          refusal={acts.why("factor.reset", user) ?? noFactor}
          onClick={() => acts.resetFactors(user)}
        />
      </Group>
      {end.error && <ProblemAlert problem={end.error} />}
      {logins.isPending && <Skeleton height={120} aria-busy />}
      {logins.isError && <ProblemAlert problem={logins.error} onRetry={() => void logins.refetch()} />}
      {logins.data?.length === 0 && <EmptyState title={t`Not signed in`} />}
      {logins.data?.map((login) => (
        <Paper key={login.id} withBorder p="xs">
          <Group justify="space-between" wrap="nowrap">
            <div style={{ minWidth: 0 }}>
              <Group gap="xs">
                <Text size="sm" fw={500}>
                  {[login.browser, login.system].filter(Boolean).join(" · ") || t`Unknown browser`}
                </Text>
                {login.current && (
                  <Badge size="xs">
                    <Trans>this browser</Trans>
                  </Badge>
                )}
              </Group>
              <Text size="xs" c="dimmed">
                {login.address} · <Method method={login.method} /> ·{" "}
                <Trans>
                  last seen <Instant at={login.seen_at} />
                </Trans>
              </Text>
            </div>
            <RowTool
              label={t`Sign out`}
              row={login.browser || login.address}
              icon={IconLogout}
              refusal={whyNot}
              onClick={() => end.mutate({ login: login.id })}
            />
          </Group>
        </Paper>
      ))}
    </Stack>
  );
}
