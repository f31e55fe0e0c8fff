import { useLingui } from "@lingui/react/macro";
import { Alert, Anchor, Stack } from "@mantine/core";
import { IconAlertTriangle, IconPencil, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { StorageHost } from "@/api/types";
import { UsageBar } from "@/features/folders/UsageBar";
import { hostsShowQuery } from "@/queries/hosts";
import { DetailDrawer } from "@/ui/DetailDrawer";
import { Facts } from "@/ui/Facts";
import { formatSize } from "@/ui/format";
import { Instant } from "@/ui/Instant";
import { MainButton } from "@/ui/MainButton";
import { HostAccess } from "./HostAccess";
import { HostBadge } from "./HostBadge";
import { HostLocations } from "./HostLocations";
import type { HostActs } from "./use-host-acts";
import { BACKENDS } from "./words";

interface Props {
  opened: boolean;
  id: string;
  acts: HostActs;
  onEdit: (host: StorageHost) => void;
  onClose: () => void;
}

/** A storage host: its state and its access list. */
export function HostDrawer({ opened, id, acts, onEdit, onClose }: Props) {
  const { t } = useLingui();
  const query = useQuery(hostsShowQuery(id));
  const host = query.data;
  return (
    <DetailDrawer
      opened={opened}
      id={id}
      onClose={onClose}
      size="lg"
      title={host?.name ?? t`Storage host`}
      query={query}
      state={host && <HostBadge host={host} />}
      actions={
        host && (
          <>
            {" "}
            <MainButton
              variant="default"
              icon={IconPencil}
              label={t`Edit`}
              refusal={acts.why}
              onClick={() => onEdit(host)}
            />
            <MainButton
              variant="light"
              color="red"
              icon={IconTrash}
              label={t`Remove…`}
              refusal={acts.whyNotRemove(host)}
              onClick={() => acts.remove(host, onClose)}
            />
          </>
        )
      }
    >
      {host && (
        <Stack gap="lg" key={host.id}>
          {host.problem && (
            <Alert color="red" variant="light" icon={<IconAlertTriangle size={18} aria-hidden />}>
              {host.problem}
            </Alert>
          )}
          <HostFacts host={host} />
          <HostAccess host={host} />
          {host.locations && <HostLocations host={host} />}
        </Stack>
      )}
    </DetailDrawer>
  );
}

function HostFacts({ host }: { host: StorageHost }) {
  const { t, i18n } = useLingui();
  const { total_bytes: total, free_bytes: free } = host;
  const words = BACKENDS[host.backend];
  return (
    <Facts
      facts={[
        [t`Kind`, words ? i18n._(words.title) : host.backend],
        [t`Root`, host.root],
        [t`Description`, host.description],
        [
          t`Storage`,
          total === null || free === null ? (
            "–"
          ) : (
            <Stack gap={2} key="space">
              <UsageBar
                used={total - free}
                most={total}
                level={host.level}
                more={t`${formatSize(free)} free`}
              />
            </Stack>
          ),
        ],
        [
          t`Folders`,
          <Anchor
            key="folders"
            size="sm"
            renderRoot={(props) => <Link {...props} to="/storage/folders" search={{ host: host.name }} />}
          >
            {t`${host.folders}, ${formatSize(host.used_bytes)} in total`}
          </Anchor>,
        ],
        [
          t`Quotas`,
          host.hard_quota
            ? t`enforced immediately, also in sessions`
            : t`measured; uploads above the quota are rejected`,
        ],
        [t`Clones`, host.instant_clone ? t`instant` : t`copied file by file`],
        [t`Last checked`, host.checked_at ? <Instant key="checked" at={host.checked_at} /> : "–"],
        [t`Created`, <Instant key="created" at={host.created_at} />],
      ]}
    />
  );
}
