import { useLingui } from "@lingui/react/macro";
import { Group, Select, type SelectProps, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { hostsChoiceQuery } from "@/queries/hosts";
import { formatSize } from "@/ui/format";
import { LevelBadge } from "./badges";

interface Props extends Pick<SelectProps, "error" | "label"> {
  /** Name of a host; "" for the one with the most free space. */
  value: string;
  onChange: (name: string) => void;
  /** A host that cannot be selected. */
  without?: string;
  required?: boolean;
}

/** Selects a storage host, showing the free space of each. */
export function HostInput({ value, onChange, without, required = false, ...props }: Props) {
  const { t } = useLingui();
  const hosts = (useQuery(hostsChoiceQuery).data ?? []).filter(
    ({ name, active }) => active && name !== without,
  );
  return (
    <Select
      label={t`Storage host`}
      data={[
        ...(required ? [] : [{ value: "", label: t`Automatic (most free space)` }]),
        ...hosts.map(({ name }) => ({ value: name, label: name })),
      ]}
      withAsterisk={required}
      allowDeselect={false}
      searchable={hosts.length > 8}
      nothingFoundMessage={t`No other storage host is available to you.`}
      value={required && !value ? null : value}
      onChange={(next) => onChange(next ?? "")}
      renderOption={({ option }) => {
        const host = hosts.find(({ name }) => name === option.value);
        return (
          <Group justify="space-between" wrap="nowrap" style={{ flex: 1 }}>
            <Text size="sm">{option.label}</Text>
            {host && (
              <Group gap="xs" wrap="nowrap">
                {host.free_bytes !== null && (
                  <Text size="xs" c="dimmed">
                    {t`${formatSize(host.free_bytes)} free`}
                  </Text>
                )}
                <LevelBadge level={host.level} />
              </Group>
            )}
          </Group>
        );
      }}
      {...props}
    />
  );
}
