import { useLingui } from "@lingui/react/macro";
import { Group, Pill } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { sessionsShowQuery } from "@/queries/sessions";
import { ArrayCounts } from "./ArrayCounts";
import { arrayName } from "./arrays";

/** The array whose sessions are listed. */
export function ArrayPill({ id, onRemove }: { id: string; onRemove: () => void }) {
  const { t } = useLingui();
  const array = useQuery(sessionsShowQuery(id)).data?.array;
  return (
    <Group gap="xs" wrap="nowrap">
      <Pill withRemoveButton removeButtonProps={{ "aria-label": t`Close the array` }} onRemove={onRemove}>
        {array ? arrayName(array) : id}
      </Pill>
      {array && <ArrayCounts array={array} />}
    </Group>
  );
}
