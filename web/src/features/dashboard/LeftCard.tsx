import { Trans, useLingui } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import type { Check } from "@/api/types";
import { useLabel } from "@/features/sessions/why/use-label";
import { inSlotOrder, slotAmount, slotColor, useSlotName } from "@/ui/slots";
import { Card } from "./Card";
import { Meter } from "./Meter";

/** The largest session that could start now, and its limiting factor. */
export function LeftCard({ check }: { check: Check }) {
  const { t } = useLingui();
  const nameOf = useSlotName();
  const label = useLabel();
  const { group, project } = check;
  return (
    <Card
      title={t`Available to you`}
      about={t`The largest session that can start now in ${group.name} for project ${project.name}.`}
    >
      {inSlotOrder(Object.keys(check.slots)).map((slot) => {
        const room = check.slots[slot];
        if (!room) return null;
        const [now, most, by] = [slotAmount(slot, room.now), slotAmount(slot, room.most), label(room.by)];
        return (
          <div key={slot}>
            <Meter
              name={nameOf(slot)}
              figures={
                <Trans>
                  {now} of {most}
                </Trans>
              }
              part={room.most > 0 ? room.now / room.most : 0}
              color={slotColor(slot)}
            />
            <Text size="xs" c="dimmed" mt={2}>
              <Trans>Limited by {by}.</Trans>
            </Text>
          </div>
        );
      })}
    </Card>
  );
}
