import { Trans, useLingui } from "@lingui/react/macro";
import { Anchor, Stack } from "@mantine/core";
import { IconPencil, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Group } from "@/api/types";
import { RIGHTS } from "@/features/policies/limit-words";
import { SessionsTab } from "@/features/sessions/SessionsTab";
import { UsageHistory } from "@/features/usage/UsageHistory";
import { may } from "@/me/may";
import { useMe } from "@/me/use-me";
import { groupsShowQuery } from "@/queries/groups";
import type { GroupTab } from "@/routing/search";
import { CommandLine } from "@/ui/CommandLine";
import { commandLine } from "@/ui/command";
import { DetailDrawer } from "@/ui/DetailDrawer";
import { DetailTabs } from "@/ui/DetailTabs";
import { Facts } from "@/ui/Facts";
import { formatWhole } from "@/ui/format";
import { Instant } from "@/ui/Instant";
import { MainButton } from "@/ui/MainButton";
import { ActiveBadge } from "@/ui/StateBadge";
import { AccessForm } from "./AccessForm";
import { NODE_LOSSES, ORDERS, PLACEMENTS, SESSION_KINDS } from "./group-words";
import { Loads } from "./Loads";
import { groupLoads } from "./load";
import { SelectedNodes } from "./SelectedNodes";
import { LEAST_TIERS } from "./share-words";
import type { GroupActs } from "./use-group-acts";
import { WeightsForm } from "./WeightsForm";

interface Props {
  opened: boolean;
  id: string;
  tab: GroupTab | undefined;
  acts: GroupActs;
  onTab: (tab: GroupTab | undefined) => void;
  onEdit: (group: Group) => void;
  onClose: () => void;
}

/** A resource group: settings, access list and fair-share weights. */
export function GroupDrawer({ opened, id, tab, acts, onTab, onEdit, onClose }: Props) {
  const { t } = useLingui();
  const administers = may(useMe(), "node.update");
  const query = useQuery(groupsShowQuery(id));
  const group = query.data;
  return (
    <DetailDrawer
      opened={opened}
      id={id}
      onClose={onClose}
      size="xl"
      title={group?.name ?? t`Resource group`}
      query={query}
      state={
        group && (
          <ActiveBadge active={group.active}>
            {group.active ? t`active` : t`disabled: accepts no new sessions`}
          </ActiveBadge>
        )
      }
      actions={
        group && (
          <>
            {" "}
            <MainButton
              variant="default"
              icon={IconPencil}
              label={t`Edit`}
              refusal={acts.why}
              onClick={() => onEdit(group)}
            />
            <MainButton
              variant="light"
              color="red"
              icon={IconTrash}
              label={t`Remove…`}
              refusal={acts.whyNotRemove(group)}
              onClick={() => acts.remove(group, onClose)}
            />
          </>
        )
      }
    >
      {group && (
        <DetailTabs
          value={tab}
          onChange={onTab}
          tabs={[
            {
              name: "overview",
              label: t`Overview`,
              content: (
                <Stack gap="lg">
                  <GroupFacts group={group} administers={administers} />
                  {administers && <UsageHistory scope="group" id={group.id} />}
                </Stack>
              ),
            },
            { name: "sessions", label: t`Sessions`, content: <SessionsTab of={{ group: group.name }} /> },
            { name: "access", label: t`Access`, content: <AccessForm group={group} /> },
            { name: "weights", label: t`Weights`, content: <WeightsForm group={group} /> },
          ]}
        />
      )}
    </DetailDrawer>
  );
}

function GroupFacts({ group, administers }: { group: Group; administers: boolean }) {
  const { t, i18n } = useLingui();
  const time = (seconds: number) => formatWhole(seconds, i18n.locale);
  return (
    <Stack gap="lg">
      <Loads loads={groupLoads(group)} />
      <Facts
        facts={[
          [t`Description`, group.description],
          [
            t`Access`,
            group.public ? t`all users whose domain has access` : t`listed domains, projects and users`,
          ],
          [
            t`Nodes`,
            <Anchor
              key="nodes"
              size="sm"
              renderRoot={(props) => <Link {...props} to="/resources" search={{ group: group.id }} />}
            >
              <Trans>
                {group.nodes}, {group.ready_nodes} schedulable
              </Trans>
            </Anchor>,
          ],
          [t`Live sessions`, t`${group.live_sessions}, ${group.waiting_sessions} pending`],
          [
            t`Session types`,
            group.session_kinds
              .map((kind) => (SESSION_KINDS[kind] ? i18n._(SESSION_KINDS[kind]) : kind))
              .join(", "),
          ],
          [t`Order`, i18n._(ORDERS[group.scheduler].title)],
          [t`Usage half-life`, group.scheduler === "fair_share" && time(group.half_life_s)],
          [t`Placement`, i18n._(PLACEMENTS[group.placement].title)],
          [t`Slots for placement`, group.slot_priority.join(", ") || t`scarcest slot`],
          [
            t`Maximum pending time`,
            group.pending_timeout_s === null ? t`unlimited` : time(group.pending_timeout_s),
          ],
          [t`Starvation limit`, time(group.patience_s)],
          [
            t`On node failure`,
            t`${i18n._(NODE_LOSSES[group.on_node_loss])}, after ${time(group.node_loss_s)}`,
          ],
          [t`Highest rights`, i18n._(RIGHTS[group.max_rights])],
          [t`App domain`, group.app_address ?? t`default`],
          [t`Node selector`, group.node_selector],
          [t`Required capabilities`, group.required_capabilities.join(", ")],
          [t`Enforced shares of GPUs`, i18n._(LEAST_TIERS[group.min_share_tier])],
          [t`Topology`, group.topology.length > 0 && group.topology.join(", ")],
          [t`Container runtime`, group.runtime],
          [
            t`Elastic`,
            group.elastic &&
              t`nodes are added as needed; a start waits up to ${time(group.elastic.wait_s ?? 0)}`,
          ],
          [t`Created`, <Instant key="created" at={group.created_at} />],
        ]}
      />
      {administers && group.node_selector && (
        <SelectedNodes selector={group.node_selector} name={group.name} />
      )}
      <CommandLine text={commandLine("carrel", "group", "show", group.name)} />
    </Stack>
  );
}
