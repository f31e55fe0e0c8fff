import { Stack } from "@mantine/core";
import { useSlotName } from "@/ui/slots";
import { LoadBar } from "./LoadBar";
import type { LimitedLoad } from "./load";

/** The usage of each resource, with its name. */
export function Loads({ loads }: { loads: readonly LimitedLoad[] }) {
  const slotName = useSlotName();
  return (
    <Stack gap="xs">
      {loads.map(({ name, slot, used, offered }) => (
        <LoadBar key={name} name={slotName(name)} slot={slot} used={used} offered={offered} />
      ))}
    </Stack>
  );
}
