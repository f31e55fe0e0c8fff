import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Group, Stack, Text, Title } from "@mantine/core";
import { IconCloudUpload, IconPlayerPlay, IconPlayerStop, IconTrash } from "@tabler/icons-react";
import { useState } from "react";
import type { Environment, EnvironmentVersion } from "@/api/types";
import { useCancelVersion } from "@/queries/environments";
import { formatInstant, formatSize } from "@/ui/format";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { RowTool } from "@/ui/table/RowTool";
import { BuildDetails } from "./BuildDetails";
import { PushDialog } from "./PushDialog";
import { useRemovals } from "./use-removals";
import { VersionBadge } from "./VersionBadge";
import { isMaking } from "./words";

interface Props {
  environment: Environment;
  onStart: (image: string) => void;
}

/** The versions, the latest first. */
export function VersionRows({ environment, onStart }: Props) {
  return (
    <Stack component="section" gap="sm">
      <Title order={3} size="h6">
        <Trans>Versions</Trans>
      </Title>
      {environment.versions.map((version) => (
        <VersionRow key={version.id} environment={environment} version={version} onStart={onStart} />
      ))}
    </Stack>
  );
}

function VersionRow({ environment, version, onStart }: Props & { version: EnvironmentVersion }) {
  const { t, i18n } = useLingui();
  const removals = useRemovals();
  const cancel = useCancelVersion();
  const [pushing, setPushing] = useState(false);
  const { base, session, node, engine } = version;
  const at = formatInstant(version.created_at, i18n.locale);
  const added = version.added_bytes === null ? null : formatSize(version.added_bytes);
  const size = version.size_bytes === null ? "" : formatSize(version.size_bytes);
  const where = node ?? engine;
  return (
    <Group gap="xs" wrap="nowrap" justify="space-between" align="flex-start">
      <Stack gap={2} style={{ minWidth: 0, flex: 1 }}>
        <Group gap="xs">
          <VersionBadge version={version} named />
          {version.default && (
            <Text size="xs" c="dimmed">
              <Trans>default</Trans>
            </Text>
          )}
        </Group>
        {version.note && <Text size="sm">{version.note}</Text>}
        {version.problem && (
          <Text size="sm" c="red">
            {version.problem}
          </Text>
        )}
        <Text size="xs" c="dimmed">
          {version.recipe ? (
            <Trans>
              Built, {at}, on {where}
            </Trans>
          ) : (
            <Trans>
              From {session}, {at}, on {where}
            </Trans>
          )}
          {added !== null && (
            <>
              {" · "}
              <Trans>
                {added} more than {base}, {size} in total
              </Trans>
            </>
          )}
          {version.used_by > 0 && (
            <>
              {" · "}
              <Plural value={version.used_by} one="# live session uses it" other="# live sessions use it" />
            </>
          )}
        </Text>
        {version.recipe && <BuildDetails version={version} mayChange={environment.may_change} />}
        {cancel.error && <ProblemAlert problem={cancel.error} />}
      </Stack>
      <Group gap={0} wrap="nowrap">
        {version.state === "ready" && environment.may_start && (
          <RowTool
            label={t`Start a session`}
            row={version.name}
            icon={IconPlayerPlay}
            onClick={() => onStart(`${environment.image}:${version.name}`)}
          />
        )}
        {version.state === "ready" && environment.may_change && (
          <>
            <RowTool
              label={t`Push to a registry…`}
              row={version.name}
              icon={IconCloudUpload}
              onClick={() => setPushing(true)}
            />
            <PushDialog
              environment={environment}
              version={version}
              opened={pushing}
              onClose={() => setPushing(false)}
            />
          </>
        )}
        {isMaking(version) && environment.may_change && (
          <RowTool
            label={t`Cancel`}
            row={version.name}
            icon={IconPlayerStop}
            onClick={() => cancel.mutate({ id: environment.id, version: version.name })}
          />
        )}
        {environment.may_change && (
          <RowTool
            label={t`Delete`}
            row={version.name}
            icon={IconTrash}
            color="red"
            refusal={version.used_by > 0 ? t`Live sessions use it.` : null}
            onClick={() => removals.version(environment, version)}
          />
        )}
      </Group>
    </Group>
  );
}
