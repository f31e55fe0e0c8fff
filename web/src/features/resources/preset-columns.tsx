import { msg } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import type { Preset } from "@/api/types";
import { Instant } from "@/ui/Instant";
import { inSlotOrder, slotText } from "@/ui/slots";
import type { Column } from "@/ui/table/column";
import type { CsvFields } from "@/ui/table/csv";

export const PRESET_COLUMNS: readonly Column<Preset>[] = [
  {
    key: "name",
    title: msg`Name`,
    shown: "always",
    sortable: true,
    value: (preset) => preset.name,
    cell: (preset) => (
      <Text size="sm" fw={500} truncate>
        {preset.name}
      </Text>
    ),
  },
  {
    key: "group",
    title: msg`Offered in`,
    width: "12rem",
    sortable: true,
    value: (preset) => preset.group?.name ?? "",
    cell: (preset) => preset.group?.name ?? <Trans>all groups</Trans>,
  },
  {
    key: "slots",
    title: msg`Slots`,
    value: (preset) =>
      inSlotOrder(Object.keys(preset.slots))
        .map((slot) => slotText(slot, preset.slots[slot] ?? 0))
        .join(" · "),
  },
  {
    key: "created_at",
    title: msg`Created`,
    width: "12rem",
    sortable: true,
    shown: "chosen",
    value: (preset) => preset.created_at,
    cell: (preset) => <Instant at={preset.created_at} />,
  },
];

export const PRESET_FIELDS: CsvFields<Preset> = [
  ["id", (preset) => preset.id],
  ["name", (preset) => preset.name],
  ["group", (preset) => preset.group?.name],
  ["slots", (preset) => JSON.stringify(preset.slots)],
  ["created_at", (preset) => preset.created_at],
];
