import { Trans, useLingui } from "@lingui/react/macro";
import { Group, Stack, Text, Title } from "@mantine/core";
import { IconUserMinus } from "@tabler/icons-react";
import type { SessionDetail, SessionShare } from "@/api/types";
import { useUnshareSession } from "@/queries/session-shares";
import { commandLine } from "@/ui/command";
import { EmptyState } from "@/ui/EmptyState";
import { askToConfirm } from "@/ui/form/ConfirmDialog";
import { formatInstant } from "@/ui/format";
import { StateBadge } from "@/ui/StateBadge";
import { RowTool } from "@/ui/table/RowTool";
import { ACCESS_LEVELS } from "./words";

interface Props {
  session: SessionDetail;
  shares: SessionShare[];
}

/** Who has access to a session, to do what, and until when. Users who came by a link are below it. */
export function SessionShareRows({ session, shares }: Props) {
  const { t } = useLingui();
  if (shares.length === 0) return <EmptyState title={t`Not shared`} />;
  const direct = shares.filter((one) => !one.via_link);
  return (
    <Stack gap="xs" component="section">
      <Title order={3} size="h6">
        <Trans>Shared with</Trans>
      </Title>
      {direct.flatMap((one) => [
        <ShareRow key={one.id} session={session} share={one} />,
        ...shares
          .filter(({ via_link }) => via_link === one.id)
          .map((taken) => <ShareRow key={taken.id} session={session} share={taken} />),
      ])}
    </Stack>
  );
}

function ShareRow({ session, share }: { session: SessionDetail; share: SessionShare }) {
  const { t, i18n } = useLingui();
  const { mutateAsync: unshare } = useUnshareSession();
  const at = (instant: string) => formatInstant(instant, i18n.locale);
  const since = at(share.created_at);
  const link = !share.user && !share.project;
  const who = share.project ? t`Project ${share.project.name}` : (share.user?.email ?? t`Link of ${since}`);
  const until = share.expires_at ? at(share.expires_at) : null;
  const by = share.granted_by?.email ?? "–";
  const revoke = () =>
    askToConfirm({
      title: link ? t`Revoke link` : t`Stop sharing`,
      closeLabel: t`Close`,
      confirm: link ? t`Revoke link` : t`Stop sharing`,
      command: commandLine("carrel", "session", "unshare", session.id, share.id),
      onConfirm: () => unshare({ id: session.id, share: share.id }),
      children: link ? (
        <Trans>
          Everybody who opened the link loses access to <b>{session.name}</b>. Their open apps and terminals
          are closed.
        </Trans>
      ) : (
        <Trans>
          <b>{who}</b> loses access to <b>{session.name}</b>. Open apps and terminals are closed.
        </Trans>
      ),
    });
  return (
    <Group gap="xs" wrap="nowrap" justify="space-between" pl={share.via_link ? "lg" : undefined}>
      <Stack gap={0} style={{ minWidth: 0, flex: 1 }}>
        <Text size="sm" truncate title={who}>
          {who}
        </Text>
        <Text size="xs" c="dimmed">
          {share.via_link ? (
            <Trans>by the link, since {since}</Trans>
          ) : (
            <Trans>
              since {since}, by {by}
            </Trans>
          )}
          {" · "}
          {until ? <Trans>until {until}</Trans> : <Trans>no expiry</Trans>}
        </Text>
      </Stack>
      <StateBadge look={share.level === "use" ? "ok" : "off"}>
        {i18n._(ACCESS_LEVELS[share.level].title)}
      </StateBadge>
      <RowTool
        label={link ? t`Revoke link` : t`Stop sharing`}
        row={who}
        icon={IconUserMinus}
        color="red"
        onClick={revoke}
      />
    </Group>
  );
}
