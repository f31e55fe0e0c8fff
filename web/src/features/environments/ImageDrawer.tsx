import { Trans, useLingui } from "@lingui/react/macro";
import { Group, Stack, Title } from "@mantine/core";
import { IconPencil } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { Image, ImageDetail } from "@/api/types";
import { imagesShowQuery } from "@/queries/images";
import { CopyButton } from "@/ui/CopyButton";
import { DetailDrawer } from "@/ui/DetailDrawer";
import { Facts } from "@/ui/Facts";
import { formatSize } from "@/ui/format";
import { Instant } from "@/ui/Instant";
import { MainButton } from "@/ui/MainButton";
import { SLOTS_JOINT, slotsWords } from "@/ui/slots";
import { ImageSecurity } from "./ImageSecurity";
import { ImageUpdates } from "./ImageUpdates";
import { CudaNodesCount, ImageBadge } from "./image-columns";
import { contentsBySource } from "./image-contents";

interface Props {
  opened: boolean;
  id: string;
  onEdit: (image: Image) => void;
  onClose: () => void;
}

/** An image of the catalogue: its settings, and what is known of it. */
export function ImageDrawer({ opened, id, onEdit, onClose }: Props) {
  const { t } = useLingui();
  const query = useQuery(imagesShowQuery(id));
  const image = query.data;
  return (
    <DetailDrawer
      opened={opened}
      id={id}
      onClose={onClose}
      size="lg"
      title={image?.name ?? t`Image`}
      query={query}
      actions={
        image && (
          <MainButton variant="default" icon={IconPencil} label={t`Edit`} onClick={() => onEdit(image)} />
        )
      }
    >
      {image && (
        <Stack gap="lg" key={image.id}>
          <ImageSettingFacts image={image} />
          {image.update && <ImageUpdates image={image} watch={image.update} />}
          <ImageFacts image={image} />
          <ImageSecurity image={image.reference} />
          {Object.keys(image.labels).length > 0 && (
            <section>
              <Title order={3} size="h6">
                <Trans>Labels</Trans>
              </Title>
              <Facts facts={Object.entries(image.labels)} />
            </section>
          )}
        </Stack>
      )}
    </DetailDrawer>
  );
}

function ImageSettingFacts({ image }: { image: ImageDetail }) {
  const { t } = useLingui();
  const names = (scopes: { name: string }[] | undefined) =>
    scopes && scopes.length > 0 ? scopes.map(({ name }) => name).join(", ") : null;
  const { settings } = image;
  return (
    <Facts
      facts={[
        [t`State`, <ImageBadge key="state" image={image} />],
        [t`Enabled`, image.enabled ? t`yes` : t`no`],
        [t`Hidden`, image.hidden ? t`yes` : t`no`],
        [t`Successor`, image.successor],
        [t`Family`, image.family],
        [t`Version`, image.preferred ? t`${image.version} (default)` : image.version],
        [t`Aliases`, image.aliases.join(", ")],
        [t`Only for domains`, names(settings?.domains)],
        [t`Only for projects`, names(settings?.projects)],
        [t`Only in resource groups`, names(settings?.groups)],
        [t`Minimum`, slotsWords(image.min_slots).join(SLOTS_JOINT)],
        [t`Recommended`, slotsWords(image.recommended_slots).join(SLOTS_JOINT)],
      ]}
    />
  );
}

function ImageFacts({ image }: { image: ImageDetail }) {
  const { t } = useLingui();
  // Of each line the first alternative, such as "cuda>=12.4".
  const needed = image.requires_cuda?.split("\n").map((line) => line.split(" ")[0] ?? "") ?? [];
  const drivers = needed.map((one) => {
    const [, cuda] = /^cuda>=([\d.]+)$/.exec(one) ?? [];
    return cuda ? t`CUDA ${cuda} or newer` : one;
  });
  const sources = contentsBySource(image).map(({ source, names }) =>
    source === "image" ? t`labels and environment` : `${source} (${names.join(", ")})`,
  );
  return (
    <section>
      <Title order={3} size="h6">
        <Trans>Contents</Trans>
      </Title>
      <Facts
        facts={[
          [t`Title`, image.title],
          [t`Description`, image.description || null],
          [t`Reference`, image.reference],
          [
            t`Digest`,
            image.digest && (
              <Group gap={2} key="digest" wrap="nowrap">
                <span style={{ overflowWrap: "anywhere" }}>{image.digest}</span>
                <CopyButton text={image.digest} label={t`Copy digest`} />
              </Group>
            ),
          ],
          [
            t`Contains`,
            Object.entries(image.contents)
              .map(([name, text]) => `${name} ${text}`)
              .join(", "),
          ],
          [t`Read from`, sources.join(", ")],
          [t`Package databases`, image.packages_problem],
          [t`Architectures`, image.architectures.join(", ")],
          [t`Accelerators`, image.accelerators.join(", ")],
          [t`Required NVIDIA driver`, drivers.join(", ")],
          [
            t`Runs on NVIDIA nodes`,
            image.cuda_nodes?.total ? <CudaNodesCount key="nodes" nodes={image.cuda_nodes} /> : null,
          ],
          [t`Size`, image.size_bytes === null ? "" : formatSize(image.size_bytes)],
          [t`Layers`, image.layers === null ? "" : String(image.layers)],
          [t`Apps`, image.apps.map(({ title }) => title).join(", ")],
          [t`Licences`, image.licenses],
          [t`Built`, image.built_at && <Instant key="built" at={image.built_at} />],
          [t`Scanned`, image.scanned_at && <Instant key="scanned" at={image.scanned_at} />],
        ]}
      />
    </section>
  );
}
