import { useLingui } from "@lingui/react/macro";
import { Group, Select } from "@mantine/core";
import type { ReactNode } from "react";
import { AppSymbol, type AppSymbolName } from "@/ui/AppSymbol";

interface Props {
  value?: AppSymbolName;
  onChange?: (icon: AppSymbolName) => void;
  error?: ReactNode;
}

/** The icon of an app template. */
export function IconSelect({ value, onChange, error }: Props) {
  const { t } = useLingui();
  const icons: { value: AppSymbolName; label: string }[] = [
    { value: "app", label: t`App` },
    { value: "chart", label: t`Chart` },
    { value: "code", label: t`Code` },
    { value: "database", label: t`Database` },
    { value: "desktop", label: t`Desktop` },
    { value: "flask", label: t`Flask` },
    { value: "folder", label: t`Folder` },
    { value: "globe", label: t`Globe` },
    { value: "notebook", label: t`Notebook` },
    { value: "terminal", label: t`Terminal` },
  ];
  return (
    <Select
      label={t`Icon`}
      allowDeselect={false}
      data={icons}
      value={value}
      error={error}
      onChange={(icon) => icon && onChange?.(icon as AppSymbolName)}
      leftSection={<AppSymbol name={value ?? "app"} size={16} />}
      renderOption={({ option }) => (
        <Group gap="xs">
          <AppSymbol name={option.value} size={16} />
          {option.label}
        </Group>
      )}
    />
  );
}
