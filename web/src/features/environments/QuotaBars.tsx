import { Trans, useLingui } from "@lingui/react/macro";
import { Group, Progress, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { environmentQuotasQuery } from "@/queries/environment-builds";
import { formatSize } from "@/ui/format";

const NEARLY = 0.9;

/** How much the user's environments take, and those of their projects, of how much. */
export function QuotaBars() {
  const { t } = useLingui();
  const quotas = useQuery(environmentQuotasQuery).data ?? [];
  return (
    <Group gap="lg" px="md" pb="xs">
      {quotas.map(({ project, used_bytes, limit_bytes }) => {
        const owner = project ? t`Project ${project.name}` : t`Yours`;
        const used = formatSize(used_bytes);
        const limit = limit_bytes === null ? null : formatSize(limit_bytes);
        const share = limit_bytes ? Math.min(used_bytes / limit_bytes, 1) : 0;
        return (
          <Stack key={project?.id ?? ""} gap={2} miw={160}>
            <Text size="xs">
              {owner}:{" "}
              {limit === null ? (
                used
              ) : (
                <Trans>
                  {used} of {limit}
                </Trans>
              )}
            </Text>
            {limit !== null && (
              <Progress
                size="sm"
                value={share * 100}
                color={share >= NEARLY ? "red" : undefined}
                aria-label={t`Quota of environments: ${owner}`}
              />
            )}
          </Stack>
        );
      })}
    </Group>
  );
}
