import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Skeleton, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Shares } from "@/api/types";
import { may } from "@/me/may";
import { useMe } from "@/me/use-me";
import { schedulerSharesQuery } from "@/queries/scheduler";
import { EmptyState } from "@/ui/EmptyState";
import { formatWhole } from "@/ui/format";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { SLOTS_JOINT, slotsWords } from "@/ui/slots";
import { ListToolbar } from "@/ui/table/ListToolbar";
import styles from "./Shares.module.css";
import { SharesPicture } from "./SharesPicture";
import { SharesTable } from "./SharesTable";
import { linesOf } from "./shares";

interface Props {
  group: string;
  /** The group and view selectors. */
  choices: ReactNode;
}

/** Current and past usage of a group against the fair shares: as a chart and as a table. */
export function SharesPanel({ group, choices }: Props) {
  const { t } = useLingui();
  const shares = useQuery(schedulerSharesQuery(group));
  return (
    <>
      <ListToolbar title={t`Scheduler`}>{choices}</ListToolbar>
      <div className={styles.body}>
        {shares.isPending && <Skeleton height={220} aria-busy />}
        {shares.isError && <ProblemAlert problem={shares.error} onRetry={() => void shares.refetch()} />}
        {shares.data && <GroupShares shares={shares.data} />}
      </div>
    </>
  );
}

function GroupShares({ shares }: { shares: Shares }) {
  const { t, i18n } = useLingui();
  const lines = linesOf(shares, may(useMe(), "share.read", {}));
  const halfLife = formatWhole(shares.half_life_s, i18n.locale);
  const capacity = slotsWords(shares.capacity).join(SLOTS_JOINT);
  return (
    <Stack gap="md">
      <Text size="sm">
        <Trans>
          {shares.group.name} has {capacity}. The usage half-life is {halfLife}.
        </Trans>
      </Text>
      {shares.scheduler !== "fair_share" && (
        <Alert variant="light" color="brass" p="xs">
          <Trans>
            This group does not use fair share, so weights have no effect. The table shows usage only.
          </Trans>
        </Alert>
      )}
      {lines.length === 0 ? (
        <EmptyState
          title={t`No usage in this resource group yet`}
          text={t`Domains, projects and users appear here when they have sessions in this group.`}
        />
      ) : (
        <>
          <SharesPicture lines={lines} />
          <SharesTable group={shares.group} lines={lines} />
        </>
      )}
    </Stack>
  );
}
