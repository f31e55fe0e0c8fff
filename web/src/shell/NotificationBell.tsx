import { useLingui } from "@lingui/react/macro";
import { ActionIcon, Drawer, Indicator, Skeleton, Tooltip } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconBell } from "@tabler/icons-react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Suspense } from "react";
import { isUnderWay } from "@/api/session-states";
import type { Me } from "@/api/types";
import { endingOf } from "@/features/idle/EndingText";
import { useBatches } from "@/features/uploads/use-uploads";
import { isOver } from "@/live/folders";
import { noticeBoard, useNotices } from "@/live/notices";
import { sessionsListQuery } from "@/queries/sessions";
import { openTasksQuery } from "@/queries/tasks";
import { part } from "@/routing/part";

const NotificationList = part(() => import("./NotificationList").then((m) => m.NotificationList));

/** Running tasks with progress, and recent notifications. */
export function NotificationBell({ me }: { me: Me }) {
  const { t } = useLingui();
  const navigate = useNavigate();
  const [opened, drawer] = useDisclosure(false);
  const { notices, unread } = useNotices();
  const live = useInfiniteQuery({
    ...sessionsListQuery({ state: "live", q: "", owner: "me" }),
    enabled: !!me,
  });
  const living = (live.data?.pages ?? []).flatMap((page) => page.items);
  const underWay = living.filter((one) => isUnderWay(one.state));
  const ending = living.filter((one) => endingOf(one) !== null);
  const tasks = useQuery(openTasksQuery).data?.filter(({ state }) => !isOver(state)) ?? [];
  const batches = useBatches();
  const sending = batches.filter(({ state }) => state !== "over").length;
  const count = underWay.length + ending.length + tasks.length + sending + unread;
  const label = count > 0 ? t`Notifications, ${count} new or in progress` : t`Notifications`;
  return (
    <>
      <Tooltip label={label}>
        <Indicator label={count} size={16} disabled={count === 0} offset={5} color="brass.6">
          <ActionIcon variant="subtle" color="gray" size="lg" onClick={drawer.open} aria-label={label}>
            <IconBell size={19} stroke={1.7} aria-hidden />
          </ActionIcon>
        </Indicator>
      </Tooltip>
      <Drawer
        opened={opened}
        onClose={() => {
          noticeBoard.markRead();
          drawer.close();
        }}
        title={t`Notifications`}
        size="sm"
        closeButtonProps={{ "aria-label": t`Close` }}
      >
        <Suspense fallback={<Skeleton height={80} />}>
          <NotificationList
            underWay={underWay}
            ending={ending}
            tasks={tasks}
            batches={batches}
            notices={notices}
            onClear={() => noticeBoard.clear()}
            onFolder={(folder) => {
              drawer.close();
              void navigate({ to: "/data/$folder", params: { folder } });
            }}
            onOpen={(id) => {
              noticeBoard.markRead();
              drawer.close();
              void navigate({ to: "/sessions", search: { state: "all", session: id } });
            }}
          />
        </Suspense>
      </Drawer>
    </>
  );
}
