import { useLingui } from "@lingui/react/macro";
import { Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Image } from "@/api/types";
import { imageVersionsQuery } from "@/queries/images";

interface Props {
  image: Image;
  onChange: (image: Image) => void;
}

/** The versions of the family of an image, the newest first; nothing if it has only one. */
export function ImageVersions({ image, onChange }: Props) {
  const { t } = useLingui();
  const offered = useQuery({ ...imageVersionsQuery(image.family), enabled: image.family !== "" }).data ?? [];
  // One that is hidden is not offered.
  const versions = offered.some(({ id }) => id === image.id) ? offered : [image, ...offered];
  if (versions.length < 2) return null;
  const sameVersion = (version: string) => versions.filter((one) => one.version === version).length > 1;
  const label = (one: Image) => {
    const name = one.version === "" || sameVersion(one.version) ? one.name : one.version;
    return one.deprecated ? t`${name} (deprecated)` : one.preferred ? t`${name} (default)` : name;
  };
  return (
    <Select
      style={{ flex: "1 1 9rem" }}
      label={t`Version`}
      description={image.family}
      allowDeselect={false}
      searchable={versions.length > 10}
      comboboxProps={{ shadow: "md" }}
      data={versions.map((one) => ({ value: one.id, label: label(one) }))}
      value={image.id}
      onChange={(id) => {
        const version = versions.find((one) => one.id === id);
        if (version) onChange(version);
      }}
    />
  );
}
