import { msg } from "@lingui/core/macro";
import { useLingui } from "@lingui/react";
import { Trans } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import type { Image } from "@/api/types";
import { formatSize } from "@/ui/format";
import { Instant } from "@/ui/Instant";
import { StateBadge } from "@/ui/StateBadge";
import { SLOTS_JOINT, slotsWords } from "@/ui/slots";
import type { Column } from "@/ui/table/column";
import type { CsvFields } from "@/ui/table/csv";
import { IMAGE_STATES, imageState } from "./image-words";
import { WatchBadge } from "./WatchBadge";

/** The keys of sortable columns are the server's sort keys. */
export const IMAGE_COLUMNS: readonly Column<Image>[] = [
  {
    key: "name",
    title: msg`Name`,
    shown: "always",
    sortable: true,
    value: (image) => image.name,
    cell: (image) => (
      <Text size="sm" fw={500} truncate title={image.name}>
        {image.name}
      </Text>
    ),
  },
  {
    key: "family",
    title: msg`Family`,
    width: "10rem",
    value: (image) => image.family,
    cell: (image) => image.family || "–",
  },
  {
    key: "version",
    title: msg`Version`,
    width: "9rem",
    sortable: true,
    value: (image) => image.version,
    cell: (image) => image.version || "–",
  },
  {
    key: "state",
    title: msg`State`,
    width: "9rem",
    value: (image) => imageState(image),
    cell: (image) => <ImageBadge image={image} />,
  },
  {
    key: "update",
    title: msg`Update`,
    width: "10rem",
    value: (image) => image.update?.state ?? "",
    cell: (image) =>
      image.update && image.update.state !== "current" ? <WatchBadge state={image.update.state} /> : "–",
  },
  {
    key: "aliases",
    title: msg`Aliases`,
    width: "10rem",
    value: (image) => image.aliases.join(", "),
    cell: (image) => image.aliases.join(", ") || "–",
  },
  {
    key: "size",
    title: msg`Size`,
    width: "7rem",
    value: (image) => image.size_bytes,
    cell: (image) => (image.size_bytes === null ? "–" : formatSize(image.size_bytes)),
  },
  {
    key: "least",
    title: msg`Minimum`,
    width: "11rem",
    value: (image) => slotsWords(image.min_slots).join(SLOTS_JOINT),
  },
  {
    key: "architectures",
    title: msg`Architectures`,
    width: "10rem",
    shown: "chosen",
    value: (image) => image.architectures.join(", "),
  },
  {
    key: "cuda_nodes",
    title: msg`NVIDIA nodes`,
    width: "9rem",
    shown: "chosen",
    value: (image) => image.cuda_nodes?.able ?? null,
    cell: (image) => (image.cuda_nodes?.total ? <CudaNodesCount nodes={image.cuda_nodes} /> : "–"),
  },
  {
    key: "built_at",
    title: msg`Built`,
    width: "12rem",
    shown: "chosen",
    value: (image) => image.built_at,
    cell: (image) => (image.built_at ? <Instant at={image.built_at} /> : "–"),
  },
];

/** "2 of 3": nodes whose driver runs the image. */
export function CudaNodesCount({ nodes }: { nodes: NonNullable<Image["cuda_nodes"]> }) {
  return (
    <Trans>
      {nodes.able} of {nodes.total}
    </Trans>
  );
}

export function ImageBadge({ image }: { image: Image }) {
  const { i18n } = useLingui();
  const state = imageState(image);
  return (
    <StateBadge look={IMAGE_STATES[state].look} state={state}>
      {i18n._(IMAGE_STATES[state].title)}
    </StateBadge>
  );
}

export const IMAGE_FIELDS: CsvFields<Image> = [
  ["id", (image) => image.id],
  ["name", (image) => image.name],
  ["family", (image) => image.family],
  ["version", (image) => image.version],
  ["state", (image) => imageState(image)],
  ["aliases", (image) => image.aliases.join(" ")],
  ["successor", (image) => image.successor ?? ""],
  ["digest", (image) => image.digest ?? ""],
  ["update", (image) => image.update?.state ?? ""],
  ["available_digest", (image) => image.update?.available ?? ""],
  ["size_bytes", (image) => image.size_bytes],
  ["licenses", (image) => image.licenses],
  ["cuda_nodes_able", (image) => image.cuda_nodes?.able ?? null],
  ["cuda_nodes_total", (image) => image.cuda_nodes?.total ?? null],
];
