import { Trans, useLingui } from "@lingui/react/macro";
import { Anchor, Group, Stack } from "@mantine/core";
import { IconPencil, IconPlayerPause, IconPlayerPlay, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Domain } from "@/api/types";
import { FoldersTab } from "@/features/folders/FoldersTab";
import { CeilingsText } from "@/features/projects/CeilingsText";
import { Loads } from "@/features/resources/Loads";
import { SessionsTab } from "@/features/sessions/SessionsTab";
import { UsageHistory } from "@/features/usage/UsageHistory";
import { domainsShowQuery } from "@/queries/domains";
import type { PlaceTab } from "@/routing/search";
import { DetailDrawer } from "@/ui/DetailDrawer";
import { DetailTabs } from "@/ui/DetailTabs";
import { Facts } from "@/ui/Facts";
import { Instant } from "@/ui/Instant";
import { MainButton } from "@/ui/MainButton";
import { ActiveBadge } from "@/ui/StateBadge";
import { domainLoads } from "./columns";
import type { DomainActs } from "./use-domain-acts";

interface Props {
  opened: boolean;
  id: string;
  tab: PlaceTab | undefined;
  acts: DomainActs;
  onTab: (tab: PlaceTab | undefined) => void;
  onEdit: (domain: Domain) => void;
  onClose: () => void;
}

/** Details of a domain, and its administrators. */
export function DomainDrawer({ opened, id, tab, acts, onTab, onEdit, onClose }: Props) {
  const { t } = useLingui();
  const query = useQuery(domainsShowQuery(id));
  const domain = query.data;
  return (
    <DetailDrawer
      opened={opened}
      id={id}
      onClose={onClose}
      size="lg"
      title={domain?.name ?? t`Domain`}
      query={query}
      state={
        domain && <ActiveBadge active={domain.active}>{domain.active ? t`active` : t`disabled`}</ActiveBadge>
      }
      actions={
        domain && (
          <>
            {" "}
            <MainButton
              variant="default"
              icon={IconPencil}
              label={t`Edit`}
              refusal={acts.why("domain.update", domain)}
              onClick={() => onEdit(domain)}
            />
            {domain.active ? (
              <MainButton
                variant="default"
                icon={IconPlayerPause}
                label={t`Disable…`}
                refusal={acts.whyNotDisable(domain)}
                onClick={() => acts.disable(domain)}
              />
            ) : (
              <MainButton
                variant="default"
                icon={IconPlayerPlay}
                label={t`Enable`}
                refusal={acts.why("domain.update", domain)}
                onClick={() => void acts.enable(domain)}
              />
            )}
            <MainButton
              variant="light"
              color="red"
              icon={IconTrash}
              label={t`Remove…`}
              refusal={acts.whyNotRemove(domain)}
              onClick={() => acts.remove(domain, onClose)}
            />
          </>
        )
      }
    >
      {domain && (
        <DetailTabs
          value={tab}
          onChange={onTab}
          tabs={[
            {
              name: "overview",
              label: t`Overview`,
              content: (
                <Stack gap="lg">
                  <Loads loads={domainLoads(domain)} />
                  <DomainFacts domain={domain} />
                  <UsageHistory scope="domain" id={domain.id} />
                </Stack>
              ),
            },
            { name: "sessions", label: t`Sessions`, content: <SessionsTab of={{ domain: domain.name }} /> },
            { name: "folders", label: t`Folders`, content: <FoldersTab of={{ domain: domain.name }} /> },
          ]}
        />
      )}
    </DetailDrawer>
  );
}

function DomainFacts({ domain }: { domain: Domain }) {
  const { t } = useLingui();
  const allowed = (names: string[] | null) =>
    names === null ? <Trans>all</Trans> : names.length === 0 ? <Trans>none</Trans> : names.join(", ");
  return (
    <Facts
      facts={[
        [t`Description`, domain.description],
        [
          t`Users`,
          <Anchor
            key="users"
            size="sm"
            renderRoot={(props) => <Link {...props} to="/users" search={{ domain: domain.id }} />}
          >
            {domain.users}
          </Anchor>,
        ],
        [
          t`Administrators`,
          domain.admins.length === 0 ? (
            t`none`
          ) : (
            <Group key="admins" gap="xs">
              {domain.admins.map(({ id, email }) => (
                <Anchor
                  key={id}
                  size="sm"
                  renderRoot={(props) => <Link {...props} to="/users" search={{ user: id }} />}
                >
                  {email}
                </Anchor>
              ))}
            </Group>
          ),
        ],
        [
          t`Projects`,
          <Anchor
            key="projects"
            size="sm"
            renderRoot={(props) => <Link {...props} to="/projects" search={{ domain: domain.id }} />}
          >
            {domain.projects}
          </Anchor>,
        ],
        [t`Live sessions`, String(domain.live_sessions)],
        [t`Limits`, <CeilingsText key="ceilings" ceilings={domain.ceilings} />],
        [t`Resource groups`, allowed(domain.resource_groups)],
        [t`Registries`, allowed(domain.registries)],
        [t`Storage hosts`, allowed(domain.storage_hosts)],
        [t`Created`, <Instant key="created" at={domain.created_at} />],
      ]}
    />
  );
}
