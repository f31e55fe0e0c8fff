import { useLingui } from "@lingui/react/macro";
import { MultiSelect, Select } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import type { ImageDetail } from "@/api/types";
import { groupsChoiceQuery } from "@/queries/groups";
import { nodesAllQuery } from "@/queries/nodes";
import type { ImageValues } from "./image-values";
import { WATCH_RULES } from "./image-words";

interface Props {
  image: ImageDetail;
  form: UseFormReturnType<ImageValues>;
}

/** Whether the tag of an image is watched, and where its updates are pulled. */
export function WatchFields({ image, form }: Props) {
  const { t, i18n } = useLingui();
  const watched = form.values.watch !== "off";
  const groups = useQuery(groupsChoiceQuery).data ?? [];
  const nodes = useQuery({ ...nodesAllQuery({}), enabled: watched }).data ?? [];
  const choices = (there: readonly { id: string; name: string }[], kept: { id: string; name: string }[]) => {
    const known = new Set(there.map(({ id }) => id));
    return [...there, ...kept.filter(({ id }) => !known.has(id))].map(({ id, name }) => ({
      value: id,
      label: name,
    }));
  };
  return (
    <>
      <Select
        label={t`Updates of its tag`}
        description={
          image.registry_id
            ? t`Sessions of a watched image start from the digest that was taken last.`
            : t`Only images from registries that are scanned can be watched.`
        }
        disabled={!image.registry_id}
        allowDeselect={false}
        data={Object.entries(WATCH_RULES).map(([value, title]) => ({ value, label: i18n._(title) }))}
        {...form.getInputProps("watch")}
      />
      {watched && (
        <>
          <MultiSelect
            label={t`Pull updates to resource groups`}
            description={t`Without groups and nodes: to the nodes that have the present image.`}
            searchable
            data={choices(groups, image.settings?.pull_groups ?? [])}
            {...form.getInputProps("pull_groups")}
          />
          <MultiSelect
            label={t`Pull updates to nodes`}
            searchable
            limit={100}
            data={choices(nodes, image.settings?.pull_nodes ?? [])}
            {...form.getInputProps("pull_nodes")}
          />
        </>
      )}
    </>
  );
}
