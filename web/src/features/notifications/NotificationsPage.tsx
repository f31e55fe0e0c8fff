import { useLingui } from "@lingui/react/macro";
import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Panel, Sheet } from "@/features/account/Sheet";
import { notificationsShowQuery } from "@/queries/notifications";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { BrowserPermission } from "./BrowserPermission";
import { ChannelTable } from "./ChannelTable";
import { WebhooksPanel } from "./WebhooksPanel";

/** Which notifications reach the user and where, and webhooks. */
export function NotificationsPage() {
  const { t } = useLingui();
  const chosen = useQuery(notificationsShowQuery);
  return (
    <Sheet
      title={t`Notifications`}
      text={t`Choose which changes of your sessions reach you, and where. E-mail requires that this site sends e-mail.`}
    >
      <Panel title={t`Channels`}>
        {chosen.isPending && <Skeleton height={180} aria-busy />}
        {chosen.error && <ProblemAlert problem={chosen.error} onRetry={() => void chosen.refetch()} />}
        {chosen.data && <ChannelTable chosen={chosen.data} />}
        <BrowserPermission />
      </Panel>
      <WebhooksPanel />
    </Sheet>
  );
}
