import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Anchor, Stack, Table, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { NodeDetail } from "@/api/types";
import { UsageHistory } from "@/features/usage/UsageHistory";
import { may } from "@/me/may";
import { useMe } from "@/me/use-me";
import { nodeCauseIn } from "@/sentences/reasons";
import { Facts } from "@/ui/Facts";
import { Instant } from "@/ui/Instant";
import { inSlotOrder, slotAmount, useSlotName } from "@/ui/slots";
import { AcceleratorChecks } from "./AcceleratorChecks";
import { DeviceMap } from "./DeviceMap";
import { DRAINING } from "./drain-words";
import { HostLoad } from "./HostLoad";
import { LoadBar } from "./LoadBar";
import { NodeLabels } from "./NodeLabels";
import { otherGroups } from "./node-labels";
import { sharingReason, TIERS } from "./share-words";
import { useNodePrice } from "./use-node-price";

/** A node's state, resources, offered slots and usage. */
export function NodeOverview({ node }: { node: NodeDetail }) {
  const { t, i18n } = useLingui();
  const administers = may(useMe(), "node.update");
  const price = useNodePrice(node, administers);
  return (
    <Stack gap="lg">
      {node.down_since && (
        <Alert color="red" variant="light" title={t`The engine no longer lists this node`}>
          <Trans>
            Since <Instant at={node.down_since} />. Its resource group defines what happens to its sessions.
          </Trans>
        </Alert>
      )}
      {node.closed && (
        <Alert color="yellow" variant="light" title={t`The engine places nothing new on this node`}>
          {nodeCauseIn((message) => i18n._(message), node.closed) ?? node.closed}
        </Alert>
      )}
      <Facts
        facts={[
          [t`Draining`, node.draining !== null && i18n._(DRAINING[node.draining].title)],
          [
            t`Resource group`,
            administers ? (
              <Anchor
                key="group"
                size="sm"
                renderRoot={(props) => (
                  <Link {...props} to="/resources/groups" search={{ open: node.group.id }} />
                )}
              >
                {node.group.name}
              </Anchor>
            ) : (
              node.group.name
            ),
          ],
          [
            t`Group chosen by`,
            administers &&
              (node.group_fixed ? t`an administrator` : node.selected_by.length > 0 && t`its labels`),
          ],
          [t`Also selected by`, (administers && otherGroups(node).join(", ")) || false],
          [t`Architecture`, node.architecture],
          [t`Pool`, node.machine.pool || false],
          [t`Zone`, node.machine.zone || false],
          [t`Instance type`, node.machine.instance_type || false],
          [t`Capacity type`, node.machine.capacity_type || false],
          [t`NVIDIA driver`, node.machine.nvidia_driver || false],
          [t`CUDA`, node.machine.cuda || false],
          [
            t`Shares of GPUs`,
            node.sharing &&
              [
                i18n._(TIERS[node.sharing.tier]),
                sharingReason(node.sharing.reason, (message) => i18n._(message)),
              ]
                .filter(Boolean)
                .join(" – "),
          ],
          [t`Price of an hour`, price],
          [t`Engine`, `${node.engine.name} (${node.engine_version})`],
          [t`Last heartbeat`, <Instant key="seen" at={node.seen_at} />],
          [t`Capabilities`, node.capabilities.join(", ")],
        ]}
      />
      <SlotTable node={node} />
      {node.host && <HostLoad host={node.host} slots={node.slots} />}
      {node.devices.length > 0 && <DeviceMap devices={node.devices} />}
      {node.devices.length > 0 && administers && <AcceleratorChecks node={node} />}
      {administers && <UsageHistory scope="node" id={node.id} />}
      <section>
        <Title order={2} size="h4" mb="xs">
          <Trans>Labels</Trans>
        </Title>
        <NodeLabels node={node} />
      </section>
    </Stack>
  );
}

function SlotTable({ node }: { node: NodeDetail }) {
  const { t } = useLingui();
  const name = useSlotName();
  const amount = (slot: string, of: Record<string, number>) =>
    of[slot] === undefined ? "–" : slotAmount(slot, of[slot]);
  return (
    <section>
      <Title order={2} size="h4" mb="xs">
        <Trans>Slots</Trans>
      </Title>
      <Table.ScrollContainer minWidth={460} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
        <Table aria-label={t`Slots`} fz="sm" verticalSpacing={6}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t`Slot`}</Table.Th>
              <Table.Th>{t`Total`}</Table.Th>
              <Table.Th>{t`Reserved`}</Table.Th>
              <Table.Th>{t`Allocatable`}</Table.Th>
              <Table.Th w="9rem">{t`Allocated`}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {inSlotOrder(Object.keys(node.slots)).map((slot) => (
              <Table.Tr key={slot}>
                <Table.Th scope="row">{name(slot)}</Table.Th>
                <Table.Td>{amount(slot, node.slots)}</Table.Td>
                <Table.Td>{amount(slot, node.reserved)}</Table.Td>
                <Table.Td>
                  {amount(slot, node.offered)}
                  {slot === "cpu" && node.cpu_overcommit !== 1 && ` (× ${node.cpu_overcommit})`}
                </Table.Td>
                <Table.Td>
                  <LoadBar slot={slot} used={node.used[slot] ?? 0} offered={node.offered[slot] ?? 0} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </section>
  );
}
