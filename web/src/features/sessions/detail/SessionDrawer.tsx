import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Group, ScrollArea, Skeleton, Tabs } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Suspense, useEffect, useRef } from "react";
import type { SessionDetail } from "@/api/types";
import { EndingText, endingOf } from "@/features/idle/EndingText";
import { KeepButton } from "@/features/idle/KeepButton";
import { useSessionActions } from "@/features/sessions/use-actions";
import { useWarningText } from "@/features/sessions/warnings";
import { WhyBox } from "@/features/sessions/why/WhyBox";
import { sessionsShowQuery } from "@/queries/sessions";
import { part } from "@/routing/part";
import { DETAIL_TABS, type DetailTab } from "@/routing/search";
import { useSessionText } from "@/sentences/use-session-text";
import { DetailDrawer } from "@/ui/DetailDrawer";
import { AppsTab } from "./AppsTab";
import { SessionButtons, SessionStatus } from "./DetailHead";
import { EnvironmentTab } from "./EnvironmentTab";
import { HistoryTab } from "./HistoryTab";
import { ExtendButton } from "./LifeButtons";
import { OverviewTab } from "./OverviewTab";
import styles from "./SessionDrawer.module.css";

const DependenciesTab = part(() => import("./DependenciesTab").then((m) => m.DependenciesTab));
const LogsTab = part(() => import("./LogsTab").then((m) => m.LogsTab));
const SessionSharing = part(() =>
  import("@/features/sessions/sharing/SessionSharing").then((m) => m.SessionSharing),
);
const UsageTab = part(() => import("./UsageTab").then((m) => m.UsageTab));

interface Props {
  opened: boolean;
  id: string;
  tab: DetailTab;
  onTab: (tab: DetailTab) => void;
  onClose: () => void;
}

/** Details of a session. */
export function SessionDrawer({ opened, id, tab, onTab, onClose }: Props) {
  const { t } = useLingui();
  const session = useQuery(sessionsShowQuery(id));
  return (
    <DetailDrawer
      opened={opened}
      id={id}
      onClose={onClose}
      size="xl"
      title={session.data?.name ?? t`Session`}
      query={session}
      state={session.data && <SessionStatus session={session.data} />}
      actions={
        session.data && (
          <SessionButtons session={session.data} onShare={() => onTab("sharing")} onLeft={onClose} />
        )
      }
      fill
    >
      {session.data && <Detail session={session.data} tab={tab} onTab={onTab} />}
    </DetailDrawer>
  );
}

function Detail({
  session,
  tab,
  onTab,
}: {
  session: SessionDetail;
  tab: DetailTab;
  onTab: (tab: DetailTab) => void;
}) {
  const { t } = useLingui();
  const tabBar = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another tab is selected
  useEffect(() => {
    // The drawer is not in the page yet when it opens with a tab.
    const frame = requestAnimationFrame(() => tabBar.current && showSelected(tabBar.current));
    return () => cancelAnimationFrame(frame);
  }, [tab]);
  const actions = useSessionActions();
  const changeable = actions.whyNotChange(session) === null;
  const sessionText = useSessionText();
  const warningText = useWarningText();
  const ending = endingOf(session);
  const names: Record<DetailTab, string> = {
    overview: t`Overview`,
    history: t`History`,
    logs: t`Logs`,
    apps: t`Apps`,
    usage: t`Resource usage`,
    dependencies: t`Dependencies`,
    environment: t`Environment`,
    sharing: t`Sharing`,
  };
  return (
    <>
      {session.state === "ERROR" && (
        <Alert
          color="red"
          variant="light"
          mb="sm"
          icon={<IconAlertTriangle size={18} aria-hidden />}
          title={t`Failed`}
        >
          {session.reason ? (
            sessionText.reason(session.reason)
          ) : (
            <Trans>No reason was recorded. Check the history and the logs.</Trans>
          )}
        </Alert>
      )}
      {(session.state === "PENDING" || session.state === "PREPARING") && <WhyBox session={session} />}
      {ending && (
        <Alert
          color="brass"
          variant="light"
          mb="sm"
          p="xs"
          icon={<IconAlertTriangle size={18} aria-hidden />}
        >
          <Group justify="space-between">
            <EndingText session={session} />
            {changeable &&
              (ending.idle ? <KeepButton id={session.id} /> : <ExtendButton session={session} />)}
          </Group>
        </Alert>
      )}
      {session.warnings?.map((warning) => (
        <Alert
          key={warning}
          color="brass"
          variant="light"
          mb="sm"
          p="xs"
          icon={<IconAlertTriangle size={18} aria-hidden />}
        >
          {warningText(warning)}
        </Alert>
      ))}
      <Tabs
        value={tab}
        onChange={(next) => next && onTab(next as DetailTab)}
        className={styles.tabs}
        keepMounted={false}
      >
        <ScrollArea type="never" className={styles.tabBar} viewportRef={tabBar}>
          <Tabs.List className={styles.tabList}>
            {DETAIL_TABS.filter((one) => one !== "sharing" || changeable).map((one) => (
              <Tabs.Tab key={one} value={one}>
                {names[one]}
              </Tabs.Tab>
            ))}
          </Tabs.List>
        </ScrollArea>
        <div className={styles.panel}>
          <Suspense fallback={<Skeleton height={160} mt="md" />}>
            <Tabs.Panel value="overview">
              <OverviewTab session={session} />
            </Tabs.Panel>
            <Tabs.Panel value="history">
              <HistoryTab id={session.id} />
            </Tabs.Panel>
            <Tabs.Panel value="logs" className={styles.fill}>
              <LogsTab session={session} />
            </Tabs.Panel>
            <Tabs.Panel value="apps">
              <AppsTab session={session} actions={actions} />
            </Tabs.Panel>
            <Tabs.Panel value="usage">
              <UsageTab session={session} />
            </Tabs.Panel>
            <Tabs.Panel value="dependencies">
              <DependenciesTab id={session.id} />
            </Tabs.Panel>
            <Tabs.Panel value="environment">
              <EnvironmentTab env={session.env ?? {}} />
            </Tabs.Panel>
            <Tabs.Panel value="sharing">{changeable && <SessionSharing session={session} />}</Tabs.Panel>
          </Suspense>
        </div>
      </Tabs>
    </>
  );
}

/** Scrolls a bar so that its selected tab is in view. */
function showSelected(bar: HTMLElement): void {
  const tab = bar.querySelector<HTMLElement>("[aria-selected=true]");
  if (!tab) return;
  const end = tab.offsetLeft + tab.offsetWidth - bar.clientWidth;
  bar.scrollLeft = Math.min(Math.max(bar.scrollLeft, end), tab.offsetLeft);
}
