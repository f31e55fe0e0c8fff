import { Trans } from "@lingui/react/macro";
import { Menu, Skeleton, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { serverQuery } from "@/queries/server";
import { releaseOf } from "./release";

/** The server's version; empty if unavailable. */
export function About() {
  const { data, isPending } = useQuery(serverQuery);
  if (isPending) return <Skeleton height={12} width={120} mx="sm" my={9} aria-busy />;
  if (!data) return null;
  const { number, revision } = releaseOf(data.version);
  return (
    <Menu.Label>
      <Text size="xs" c="dimmed">
        {revision ? (
          <Trans>
            Version {number}, revision {revision}
          </Trans>
        ) : (
          <Trans>Version {number}</Trans>
        )}
      </Text>
    </Menu.Label>
  );
}
