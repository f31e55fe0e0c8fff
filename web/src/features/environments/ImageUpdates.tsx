import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Stack, Text, Title } from "@mantine/core";
import type { ImageDetail, ImageWatch } from "@/api/types";
import { useCheckUpdate, useDecideUpdate } from "@/queries/images";
import { CommandLine } from "@/ui/CommandLine";
import { CopyButton } from "@/ui/CopyButton";
import { commandLine } from "@/ui/command";
import { Facts } from "@/ui/Facts";
import { Instant } from "@/ui/Instant";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { WATCH_RULES } from "./image-words";
import { WatchBadge } from "./WatchBadge";

interface Props {
  image: ImageDetail;
  watch: ImageWatch;
}

/** The watch of an image: its present and its available digest, to take or to skip. */
export function ImageUpdates({ image, watch }: Props) {
  const { t, i18n } = useLingui();
  const check = useCheckUpdate();
  const { settings } = image;
  const where = [...(settings?.pull_groups ?? []), ...(settings?.pull_nodes ?? [])].map(({ name }) => name);
  return (
    <section>
      <Stack gap="xs">
        <Title order={3} size="h6">
          <Trans>Updates</Trans>
        </Title>
        <Facts
          facts={[
            [t`Rule`, i18n._(WATCH_RULES[watch.rule])],
            [t`Update`, <WatchBadge key="state" state={watch.state} />],
            [t`Problem`, watch.problem],
            [t`Present digest`, image.digest && <Digest key="present" digest={image.digest} />],
            [t`New digest`, watch.available && <Digest key="new" digest={watch.available} />],
            [t`Available since`, watch.available_since && <Instant key="since" at={watch.available_since} />],
            [t`Skipped digest`, watch.skipped && <Digest key="skipped" digest={watch.skipped} />],
            [t`Checked`, watch.checked_at && <Instant key="checked" at={watch.checked_at} />],
            [t`Updated`, watch.taken_at && <Instant key="taken" at={watch.taken_at} />],
            [t`Pulled to`, where.length > 0 ? where.join(", ") : t`nodes that have the present image`],
          ]}
        />
        {watch.available && <Decision image={image} watch={watch} digest={watch.available} />}
        <Group gap="xs">
          <Button
            size="xs"
            variant="default"
            loading={check.isPending}
            onClick={() => check.mutate(image.id)}
          >
            <Trans>Check now</Trans>
          </Button>
        </Group>
        {check.error && <ProblemAlert problem={check.error} />}
      </Stack>
    </section>
  );
}

function Decision({ image, watch, digest }: Props & { digest: string }) {
  const decide = useDecideUpdate();
  const taking = watch.state === "taking";
  const deciding = (take: boolean) => decide.isPending && decide.variables.take === take;
  const decided = (take: boolean) => decide.mutate({ image: image.id, digest, take });
  return (
    <>
      <Text size="sm">
        <Trans>New sessions start from the new digest once it is taken. Running sessions keep theirs.</Trans>
      </Text>
      <Group gap="xs">
        <Button
          size="xs"
          disabled={taking || deciding(false)}
          loading={deciding(true)}
          onClick={() => decided(true)}
        >
          {taking ? <Trans>Being taken</Trans> : <Trans>Take</Trans>}
        </Button>
        <Button
          size="xs"
          variant="default"
          disabled={deciding(true)}
          loading={deciding(false)}
          onClick={() => decided(false)}
        >
          <Trans>Skip this one</Trans>
        </Button>
      </Group>
      {!taking && <CommandLine text={commandLine("carrel", "image", "take", image.name)} />}
      {decide.error && <ProblemAlert problem={decide.error} />}
    </>
  );
}

function Digest({ digest }: { digest: string }) {
  const { t } = useLingui();
  return (
    <Group gap={2} wrap="nowrap">
      <span style={{ overflowWrap: "anywhere" }}>{digest}</span>
      <CopyButton text={digest} label={t`Copy digest`} />
    </Group>
  );
}
