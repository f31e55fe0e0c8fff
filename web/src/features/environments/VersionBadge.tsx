import { useLingui } from "@lingui/react/macro";
import { Group, Progress, Stack, Text } from "@mantine/core";
import type { EnvironmentVersion } from "@/api/types";
import { StateBadge } from "@/ui/StateBadge";
import { isMaking, SAVE_PHASES, VERSION_STATES } from "./words";

/** The state of a version, with its progress while it is made. named: with its name. */
export function VersionBadge({ version, named = false }: { version: EnvironmentVersion; named?: boolean }) {
  const { t, i18n } = useLingui();
  const { title, look } = VERSION_STATES[version.state];
  const { progress } = version;
  const phase = progress && SAVE_PHASES[progress.phase];
  const label = phase ? i18n._(phase) : t`Waiting`;
  const fraction = progress?.fraction ?? null;
  return (
    <Stack gap={4}>
      <Group gap="xs" wrap="nowrap">
        {named && (
          <Text size="sm" truncate>
            {version.name}
          </Text>
        )}
        <StateBadge look={look} state={version.state}>
          {i18n._(title)}
        </StateBadge>
      </Group>
      {isMaking(version) && (
        <Progress
          size="sm"
          value={fraction === null ? 100 : Math.round(fraction * 100)}
          animated={fraction === null}
          aria-label={label}
          title={label}
        />
      )}
    </Stack>
  );
}
