import { Tabs } from "@mantine/core";
import type { ReactNode } from "react";

interface Tab<Name extends string> {
  name: Name;
  label: string;
  /** Mounted, and thus loaded, only while its tab is open. */
  content: ReactNode;
}

interface Props<Name extends string> {
  /** A tab that is not offered opens the first one. */
  value: Name | undefined;
  tabs: readonly Tab<Name>[];
  /** Called without a name for the first tab. */
  onChange: (name: Name | undefined) => void;
}

/** The tabs of a detail drawer. */
export function DetailTabs<Name extends string>({ value, tabs, onChange }: Props<Name>) {
  const first = tabs[0]?.name;
  return (
    <Tabs
      value={tabs.some(({ name }) => name === value) ? value : first}
      onChange={(next) => onChange(next === first ? undefined : (next as Name))}
      keepMounted={false}
    >
      <Tabs.List mb="md">
        {tabs.map(({ name, label }) => (
          <Tabs.Tab key={name} value={name}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {tabs.map(({ name, content }) => (
        <Tabs.Panel key={name} value={name}>
          {content}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
