import { Trans, useLingui } from "@lingui/react/macro";
import { Stack, Title } from "@mantine/core";
import { IconPlayerPlay, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { Environment } from "@/api/types";
import { environmentsShowQuery } from "@/queries/environments";
import { CommandLine } from "@/ui/CommandLine";
import { CopyButton } from "@/ui/CopyButton";
import { commandLine } from "@/ui/command";
import { DetailDrawer } from "@/ui/DetailDrawer";
import { Facts } from "@/ui/Facts";
import { formatSize } from "@/ui/format";
import { MainButton } from "@/ui/MainButton";
import { EnvironmentForm } from "./EnvironmentForm";
import { EnvironmentSharing } from "./EnvironmentSharing";
import { ImageSecurity } from "./ImageSecurity";
import { PushRows } from "./PushRows";
import { useRemovals } from "./use-removals";
import { VersionRows } from "./VersionRows";

interface Props {
  opened: boolean;
  id: string;
  onClose: () => void;
}

/** An environment: its versions, what sessions start from, and with whom it is shared. */
export function EnvironmentDrawer({ opened, id, onClose }: Props) {
  const { t } = useLingui();
  const navigate = useNavigate();
  const removals = useRemovals();
  const query = useQuery(environmentsShowQuery(id));
  const environment = query.data;
  const image = environment?.versions.find((version) => version.default)?.reference;
  const start = (image: string) =>
    void navigate({ to: "/sessions", search: { launch: "new", with: { image } } });
  return (
    <DetailDrawer
      opened={opened}
      id={id}
      onClose={onClose}
      title={environment?.name ?? t`Environment`}
      query={query}
      actions={
        environment && (
          <>
            <MainButton
              icon={IconPlayerPlay}
              label={t`Start a session`}
              refusal={refusalOf(
                environment,
                t`It has no version that is ready.`,
                t`It is not shared with you.`,
              )}
              onClick={() => start(environment.image)}
            />
            <MainButton
              variant="light"
              color="red"
              icon={IconTrash}
              label={t`Delete…`}
              refusal={environment.may_change ? null : t`Only its owner and administrators can delete it.`}
              onClick={() => removals.environment(environment)}
            />
          </>
        )
      }
    >
      {environment && (
        <Stack gap="lg">
          <EnvironmentFacts environment={environment} />
          <VersionRows environment={environment} onStart={start} />
          <PushRows environment={environment} />
          {image && <ImageSecurity key={image} image={image} />}
          {environment.may_change && (
            <>
              <Stack component="section" gap="xs">
                <Title order={3} size="h6">
                  <Trans>Settings</Trans>
                </Title>
                <EnvironmentForm key={environment.updated_at} environment={environment} />
              </Stack>
              <EnvironmentSharing environment={environment} />
            </>
          )}
          <CommandLine text={commandLine("carrel", "environment", "show", environment.id)} />
        </Stack>
      )}
    </DetailDrawer>
  );
}

const refusalOf = ({ may_start, default_version }: Environment, notReady: string, notShared: string) =>
  may_start ? (default_version ? null : notReady) : notShared;

function EnvironmentFacts({ environment }: { environment: Environment }) {
  const { t } = useLingui();
  const { owner, project, image, default_version, added_bytes } = environment;
  return (
    <Facts
      facts={[
        [t`Owner`, owner?.email ?? t`Project ${project?.name ?? ""}`],
        [t`Description`, environment.description],
        [t`Sessions start from`, default_version ?? t`no version is ready`],
        [t`Size of all versions`, formatSize(added_bytes)],
        [
          t`Image`,
          <span key="image">
            {image} <CopyButton text={image} label={t`Copy name`} />
          </span>,
        ],
      ]}
    />
  );
}
