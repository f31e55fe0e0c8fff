import { Trans, useLingui } from "@lingui/react/macro";
import { Autocomplete, type AutocompleteProps, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { Environment, Image, ImageFamily } from "@/api/types";
import { formatSize } from "@/ui/format";
import { StateBadge } from "@/ui/StateBadge";
import { DeprecatedNotice } from "./DeprecatedNotice";
import { ImageVersions } from "./ImageVersions";
import { useChosenImage } from "./use-chosen-image";
import { useImageFamilies } from "./use-image-families";

interface Props extends Pick<AutocompleteProps, "onBlur" | "onFocus" | "error"> {
  /** The images with a name of their own. */
  images: Image[];
  environments: Environment[];
  value: string;
  /** image: if it was chosen from the catalogue, and not typed. */
  onChange: (text: string, image?: Image) => void;
}

/** What is shown of a choice. */
interface Choice {
  name: string;
  title: string;
  text: string;
  size_bytes: number | null;
  versions: number;
  present: boolean;
}

/** An image of the catalogue by its family and version, an environment, or any image reference. */
export function ImagePicker({ images, environments, value, onChange, error, ...input }: Props) {
  const { t } = useLingui();
  const [typed, setTyped] = useState(false);
  const families = useImageFamilies(value, !typed);
  const chosen = useChosenImage(value, images);
  const own = environments.filter(({ default_version }) => default_version !== null).map(ofEnvironment);
  const needle = typed ? value.trim().toLowerCase() : "";
  const shownOwn = own.filter(({ name, title }) => `${name} ${title}`.toLowerCase().includes(needle));
  const choices = new Map([...families.map(ofFamily), ...shownOwn].map((one) => [one.name, one]));
  const names = families.map((family) => family.default.name);
  const choose = (text: string) => {
    const image = families.find((family) => family.default.name === text)?.default;
    setTyped(!choices.has(text));
    onChange(text, image);
  };
  return (
    <Stack gap={6}>
      <Group gap="xs" align="flex-start" wrap="wrap">
        <Autocomplete
          style={{ flex: "3 1 16rem" }}
          label={t`Image`}
          description={t`Choose an image, or enter an image reference such as docker.io/library/python:3.13`}
          data={
            shownOwn.length === 0
              ? names
              : [
                  { group: t`Images`, items: names },
                  { group: t`My environments`, items: shownOwn.map(({ name }) => name) },
                ]
          }
          filter={({ options }) => options}
          value={value}
          onChange={choose}
          error={error}
          spellCheck={false}
          comboboxProps={{ shadow: "md" }}
          renderOption={({ option }) => <ImageOption choice={choices.get(option.value)} />}
          {...input}
        />
        {chosen && (
          <ImageVersions
            image={chosen}
            onChange={(image) => {
              setTyped(false);
              onChange(image.name, image);
            }}
          />
        )}
      </Group>
      {!error && value.trim() !== "" && <ImageText value={value} chosen={chosen} />}
      {chosen?.deprecated && <DeprecatedNotice image={chosen} onSuccessor={(name) => onChange(name)} />}
    </Stack>
  );
}

function ImageText({ value, chosen }: { value: string; chosen: Image | null | undefined }) {
  if (chosen === undefined) return null;
  return (
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
  );
}

const ofFamily = ({ default: image, versions }: ImageFamily): Choice => ({
  name: image.name,
  title: image.title || image.family,
  text: image.reference,
  size_bytes: image.size_bytes,
  versions,
  present: image.present,
});

/** An environment as it is chosen here. */
const ofEnvironment = ({ name, image, versions }: Environment): Choice => {
  const version = versions.find((one) => one.default);
  return {
    name: image,
    title: name,
    text: version ? `${version.base} · ${version.name}` : "",
    size_bytes: version?.size_bytes ?? null,
    versions: 1,
    present: true,
  };
};

function ImageOption({ choice }: { choice: Choice | undefined }) {
  if (!choice) return null;
  return (
    <Stack gap={0} style={{ minWidth: 0, flex: 1 }}>
      <Group gap="xs" justify="space-between" wrap="nowrap">
        <Text size="sm" fw={600}>
          {choice.title}
        </Text>
        <StateBadge look={choice.present ? "ok" : "preparing"}>
          {choice.present ? <Trans>ready</Trans> : <Trans>not pulled</Trans>}
        </StateBadge>
      </Group>
      <Text size="xs" c="dimmed" truncate>
        {choice.text}
        {choice.size_bytes ? ` · ${formatSize(choice.size_bytes)}` : ""}
        {choice.versions > 1 && (
          <>
            {" · "}
            <Trans>{choice.versions} versions</Trans>
          </>
        )}
      </Text>
    </Stack>
  );
}
