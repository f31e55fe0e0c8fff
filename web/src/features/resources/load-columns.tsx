import { msg } from "@lingui/core/macro";
import { Stack } from "@mantine/core";
import { useMemo } from "react";
import type { Column } from "@/ui/table/column";
import { LoadBar } from "./LoadBar";
import { acceleratorsOf, type LimitedLoad, share } from "./load";

type LoadsOf<Row> = (row: Row) => readonly LimitedLoad[];

const ACCELERATORS = "accelerators";

/** The columns CPU, memory and accelerators of a list: bars of the usage. */
export function loadColumns<Row>(loadsOf: LoadsOf<Row>): Column<Row>[] {
  const usual = (slot: string) => {
    const load = (row: Row) => loadsOf(row).find(({ name }) => name === slot);
    return {
      key: slot,
      value: (row: Row) => share(load(row)?.used ?? 0, load(row)?.offered ?? 0),
      cell: (row: Row) => {
        const shown = load(row);
        return shown ? <LoadBar slot={slot} used={shown.used} offered={shown.offered} /> : "–";
      },
    };
  };
  return [
    { ...usual("cpu"), title: msg`CPU`, width: "7rem" },
    { ...usual("mem"), title: msg`Memory`, width: "9.5rem" },
    {
      key: ACCELERATORS,
      title: msg`Accelerators`,
      width: "12rem",
      value: (row) => acceleratorsOf(loadsOf(row)).length,
      cell: (row) => <AcceleratorBars loads={acceleratorsOf(loadsOf(row))} />,
    },
  ];
}

function AcceleratorBars({ loads }: { loads: readonly LimitedLoad[] }) {
  if (loads.length === 0) return "–";
  return (
    <Stack gap={4}>
      {loads.map(({ name, slot, used, offered }) => (
        <LoadBar key={name} name={name} slot={slot} used={used} offered={offered} />
      ))}
    </Stack>
  );
}

/** The columns, without accelerators if no row has any. */
export function useUsedColumns<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  loadsOf: LoadsOf<Row>,
): readonly Column<Row>[] {
  const any = rows.some((row) => acceleratorsOf(loadsOf(row)).length > 0);
  return useMemo(() => (any ? columns : columns.filter(({ key }) => key !== ACCELERATORS)), [columns, any]);
}
