import { Trans, useLingui } from "@lingui/react/macro";
import { Autocomplete, type AutocompleteProps, Group, Stack, Text } from "@mantine/core";
import type { Environment, Image } from "@/api/types";
import { formatSize } from "@/ui/format";
import { StateBadge } from "@/ui/StateBadge";

interface Props extends Pick<AutocompleteProps, "value" | "onChange" | "onBlur" | "onFocus" | "error"> {
  images: Image[];
  environments: Environment[];
}

/** What is shown of an image. */
type Choice = Pick<Image, "name" | "title" | "description" | "reference" | "size_bytes" | "present">;

/** An image of the catalogue, an environment, or any image reference. */
export function ImagePicker({ images: catalogue, environments, value, error, ...input }: Props) {
  const { t } = useLingui();
  const own = environments.filter(({ default_version }) => default_version !== null).map(asImage);
  const images: Choice[] = [...catalogue, ...own];
  const byName = new Map(images.map((image) => [image.name, image]));
  const chosen = byName.get(value ?? "") ?? images.find((image) => image.reference === value);
  // Show all images while the text is a selected one; typing filters.
  const narrow: AutocompleteProps["filter"] = ({ options, search }) => {
    const needle = search.trim().toLowerCase();
    if (byName.has(search)) return options;
    const matches = (option: object) => {
      const image = "value" in option ? byName.get(String(option.value)) : undefined;
      return [image?.name, image?.title, image?.reference].some((text) =>
        text?.toLowerCase().includes(needle),
      );
    };
    return options
      .map((option) => ("group" in option ? { ...option, items: option.items.filter(matches) } : option))
      .filter((option) => ("group" in option ? option.items.length > 0 : matches(option)));
  };
  return (
    <Stack gap={6}>
      <Autocomplete
        label={t`Image`}
        description={t`Choose an image, or enter an image reference such as docker.io/library/python:3.13`}
        data={
          own.length === 0
            ? catalogue.map(({ name }) => name)
            : [
                { group: t`Images`, items: catalogue.map(({ name }) => name) },
                { group: t`My environments`, items: own.map(({ name }) => name) },
              ]
        }
        filter={narrow}
        value={value}
        error={error}
        spellCheck={false}
        comboboxProps={{ shadow: "md" }}
        renderOption={({ option }) => <ImageOption image={byName.get(option.value)} />}
        {...input}
      />
      {!error && value?.trim() && (
        <Text size="xs" c="dimmed">
          {value.startsWith("env:") ? (
            <Trans>An environment: sessions start only on the node that has it.</Trans>
          ) : chosen ? (
            <>
              {chosen.description && `${chosen.description.replace(/[.。]$/, "")}. `}
              {chosen.present ? <Trans>Ready on the node.</Trans> : <Trans>Must be pulled first.</Trans>}
            </>
          ) : (
            <Trans>Not in the catalogue. It is pulled from its registry when the session starts.</Trans>
          )}
        </Text>
      )}
    </Stack>
  );
}

/** An environment as it is chosen here. */
const asImage = ({ name, description, image, versions }: Environment): Choice => {
  const version = versions.find((one) => one.default);
  return {
    name: image,
    title: name,
    description,
    reference: version ? `${version.base} · ${version.name}` : "",
    size_bytes: version?.size_bytes ?? null,
    present: true,
  };
};

function ImageOption({ image }: { image: Choice | undefined }) {
  if (!image) return null;
  return (
    <Stack gap={0} style={{ minWidth: 0, flex: 1 }}>
      <Group gap="xs" justify="space-between" wrap="nowrap">
        <Text size="sm" fw={600}>
          {image.title}
        </Text>
        <StateBadge look={image.present ? "ok" : "preparing"}>
          {image.present ? <Trans>ready</Trans> : <Trans>not pulled</Trans>}
        </StateBadge>
      </Group>
      <Text size="xs" c="dimmed" truncate>
        {image.reference}
        {image.size_bytes ? ` · ${formatSize(image.size_bytes)}` : ""}
      </Text>
    </Stack>
  );
}
