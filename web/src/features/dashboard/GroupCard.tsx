import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Group } from "@/api/types";
import { groupLoads } from "@/features/resources/load";
import { slotAmount, slotColor, useSlotName } from "@/ui/slots";
import { Card } from "./Card";
import styles from "./Dashboard.module.css";
import { Meter } from "./Meter";

/** Capacity, usage and pending sessions of a resource group. */
export function GroupCard({ group }: { group: Group }) {
  const { t } = useLingui();
  const nameOf = useSlotName();
  return (
    <Card title={t`Resource group ${group.name}`} about={t`Slots allocated to all sessions on its nodes.`}>
      {groupLoads(group).map(({ name, slot, used, offered: all }) => {
        const [usedSaid, allSaid] = [slotAmount(slot, used), slotAmount(slot, all)];
        return (
          <Meter
            key={slot}
            name={nameOf(name)}
            figures={
              <Trans>
                {usedSaid} of {allSaid} allocated
              </Trans>
            }
            part={all > 0 ? used / all : 0}
            color={slotColor(slot)}
          />
        );
      })}
      <Text size="sm">
        <Plural value={group.nodes} one="# node" other="# nodes" />
        {" · "}
        <Plural value={group.live_sessions} one="# live session" other="# live sessions" />
        {" · "}
        <Link to="/scheduler" search={{ group: group.name }} className={styles.link}>
          <Plural value={group.waiting_sessions} one="# pending session" other="# pending sessions" />
        </Link>
      </Text>
    </Card>
  );
}
