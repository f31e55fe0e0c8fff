import { useLingui } from "@lingui/react/macro";
import { MultiSelect } from "@mantine/core";

interface Props {
  /** The names of the groups that may be chosen: those besides the preferred one. */
  groups: string[];
  value: string[];
  error: React.ReactNode;
  onChange: (names: string[]) => void;
}

/** Selects the other resource groups that the session accepts, in order of preference. */
export function AlternativeGroups({ groups, value, error, onChange }: Props) {
  const { t } = useLingui();
  if (groups.length === 0 && value.length === 0) return null;
  return (
    <MultiSelect
      label={t`Also accept these groups`}
      description={t`The session starts in the first one that has room: the resource group above, then these in your order.`}
      size="xs"
      searchable
      nothingFoundMessage={t`Nothing found`}
      data={[...new Set([...groups, ...value])]}
      value={value}
      error={error}
      onChange={onChange}
    />
  );
}
