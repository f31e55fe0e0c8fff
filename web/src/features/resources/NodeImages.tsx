import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Badge, Code, Group, Skeleton, Stack, Table, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { NodeDetail, NodeImage } from "@/api/types";
import { may } from "@/me/may";
import { useMe } from "@/me/use-me";
import { nodeImagesQuery } from "@/queries/node-images";
import { EmptyState } from "@/ui/EmptyState";
import { formatSize } from "@/ui/format";
import { Instant } from "@/ui/Instant";
import { MoreButton } from "@/ui/MoreButton";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { ImagePulls } from "./ImagePulls";

/** The images on a node: sessions start from them without a pull. */
export function NodeImages({ node }: { node: NodeDetail }) {
  const { t } = useLingui();
  const me = useMe();
  const [text, setText] = useState("");
  const [q] = useDebouncedValue(text.trim(), 200);
  const list = useInfiniteQuery(nodeImagesQuery(node.id, q));
  const images = list.data?.pages.flatMap(({ items }) => items) ?? [];
  const [sums] = list.data?.pages ?? [];
  return (
    <Stack gap="sm">
      {sums && sums.count > 0 && (
        <Text size="sm">
          <Plural value={sums.count} one="# image" other="# images" />, {formatSize(sums.size_bytes)}
        </Text>
      )}
      {((sums?.count ?? 0) > 10 || text !== "") && (
        <TextInput
          size="xs"
          aria-label={t`Search images`}
          placeholder={t`Name`}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
      )}
      {list.isPending ? (
        <Skeleton height={80} aria-busy />
      ) : list.error ? (
        <ProblemAlert problem={list.error} onRetry={() => void list.refetch()} />
      ) : images.length === 0 ? (
        <EmptyState title={text ? t`Nothing found` : t`No images on this node yet`} />
      ) : (
        <ImageTable images={images} />
      )}
      <MoreButton list={list} />
      {may(me, "image.pull") && <ImagePulls node={node.name} />}
    </Stack>
  );
}

function ImageTable({ images }: { images: NodeImage[] }) {
  const { t } = useLingui();
  return (
    <Table.ScrollContainer minWidth={480} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table aria-label={t`Images`} fz="sm" verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t`Image`}</Table.Th>
            <Table.Th>{t`Size`}</Table.Th>
            <Table.Th>{t`Last used`}</Table.Th>
            <Table.Th>{t`On the node since`}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {images.map((image) => (
            <Table.Tr key={image.image_id}>
              <Table.Td>
                <ImageName image={image} />
              </Table.Td>
              <Table.Td>{formatSize(image.size_bytes)}</Table.Td>
              <Table.Td>
                {image.in_use ? t`in use` : image.used_at ? <Instant at={image.used_at} /> : "–"}
              </Table.Td>
              <Table.Td>
                <Instant at={image.since} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function ImageName({ image }: { image: NodeImage }) {
  const names = image.references.length > 0 ? image.references : [image.image_id];
  return (
    <Stack gap={2} align="flex-start">
      {names.map((name) => (
        <Code key={name} style={{ overflowWrap: "anywhere" }}>
          {name}
        </Code>
      ))}
      {image.digest && (
        <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
          {image.digest.slice(0, 19)}
        </Text>
      )}
      <Group gap={4}>
        {image.pulled && (
          <Badge size="xs" variant="light">
            <Trans>pulled by Carrel</Trans>
          </Badge>
        )}
        {image.removing && (
          <Badge size="xs" variant="light" color="yellow">
            <Trans>being removed</Trans>
          </Badge>
        )}
      </Group>
      {image.problem && (
        <Text size="xs" c="dimmed">
          {image.problem}
        </Text>
      )}
    </Stack>
  );
}
