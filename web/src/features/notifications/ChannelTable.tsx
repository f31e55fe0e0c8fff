import { useLingui } from "@lingui/react/macro";
import { Checkbox, Table } from "@mantine/core";
import { useState } from "react";
import type { NotificationChoices, NotificationKind, NotificationUpdate } from "@/api/types";
import { useMe } from "@/me/use-me";
import { useChooseNotifications } from "@/queries/notifications";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { CHANNELS, type Channel, NOTIFICATION_KINDS, notificationKindsFor } from "./words";

const channels = Object.keys(CHANNELS) as Channel[];

/** One checkbox for each kind and channel; a change is saved at once. */
export function ChannelTable({ chosen }: { chosen: NotificationChoices }) {
  const { t, i18n } = useLingui();
  const kinds = notificationKindsFor(useMe().user.role === "superadmin");
  const choose = useChooseNotifications();
  const [unsaved, setUnsaved] = useState<NotificationUpdate>({});
  const channelsOf = (kind: NotificationKind) => unsaved[kind] ?? chosen[kind];
  const toggle = (kind: NotificationKind, channel: Channel, on: boolean) => {
    const before = channelsOf(kind);
    const change = { [kind]: on ? [...before, channel] : before.filter((one) => one !== channel) };
    setUnsaved({ ...unsaved, ...change });
    choose.mutate(change, { onSettled: () => setUnsaved({}) });
  };
  return (
    <>
      <Table.ScrollContainer minWidth={420}>
        <Table aria-label={t`Channels`}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t`Event`}</Table.Th>
              {channels.map((channel) => (
                <Table.Th key={channel}>{i18n._(CHANNELS[channel])}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {kinds.map((kind) => (
              <Table.Tr key={kind}>
                <Table.Th scope="row" fw={400}>
                  {i18n._(NOTIFICATION_KINDS[kind])}
                </Table.Th>
                {channels.map((channel) => (
                  <Table.Td key={channel}>
                    <Checkbox
                      aria-label={`${i18n._(NOTIFICATION_KINDS[kind])}: ${i18n._(CHANNELS[channel])}`}
                      checked={channelsOf(kind).includes(channel)}
                      onChange={({ currentTarget }) => toggle(kind, channel, currentTarget.checked)}
                    />
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {choose.error && <ProblemAlert problem={choose.error} />}
    </>
  );
}
