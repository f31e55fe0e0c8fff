import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Code, Collapse, Group, ScrollArea, Skeleton, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { EnvironmentVersion } from "@/api/types";
import { buildLogQuery, buildRecipeQuery, useRebuild } from "@/queries/environment-builds";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { isMaking } from "./words";

interface Props {
  version: EnvironmentVersion;
  mayChange: boolean;
}

/** Log and recipe of a version that was built, and a button to build it again. The log is shown while it is built. */
export function BuildDetails({ version, mayChange }: Props) {
  const [shown, setShown] = useState<"log" | "recipe" | null>(isMaking(version) ? "log" : null);
  const rebuild = useRebuild();
  const show = (one: "log" | "recipe") => setShown(shown === one ? null : one);
  return (
    <Stack gap="xs" mt={4}>
      <Group gap="xs">
        <Button
          size="compact-xs"
          variant="default"
          aria-expanded={shown === "log"}
          onClick={() => show("log")}
        >
          <Trans>Log</Trans>
        </Button>
        <Button
          size="compact-xs"
          variant="default"
          aria-expanded={shown === "recipe"}
          onClick={() => show("recipe")}
        >
          <Trans>Recipe</Trans>
        </Button>
        {mayChange && !isMaking(version) && (
          <Button
            size="compact-xs"
            variant="default"
            loading={rebuild.isPending}
            onClick={() => rebuild.mutate({ id: version.environment_id, version: version.name })}
          >
            <Trans>Build again</Trans>
          </Button>
        )}
      </Group>
      {rebuild.error && <ProblemAlert problem={rebuild.error} />}
      <Collapse expanded={shown !== null}>
        {shown === "log" && <BuildLog version={version} />}
        {shown === "recipe" && <Recipe version={version} />}
      </Collapse>
    </Stack>
  );
}

function BuildLog({ version }: { version: EnvironmentVersion }) {
  const { t } = useLingui();
  const query = useQuery(buildLogQuery(version));
  const viewport = useRef<HTMLDivElement>(null);
  const text = query.data?.text;
  useEffect(() => {
    if (text) viewport.current?.scrollTo({ top: viewport.current.scrollHeight });
  }, [text]);
  if (query.isError) return <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />;
  if (text === undefined) return <Skeleton height={80} aria-busy />;
  return (
    <ScrollArea.Autosize
      mah={320}
      viewportRef={viewport}
      viewportProps={{ tabIndex: 0, role: "log", "aria-label": t`Log of the build` }}
    >
      <Code block>{text || t`Nothing yet.`}</Code>
    </ScrollArea.Autosize>
  );
}

function Recipe({ version }: { version: EnvironmentVersion }) {
  const { t } = useLingui();
  const query = useQuery(buildRecipeQuery(version.environment_id, version.name));
  const recipe = query.data;
  if (query.isError) return <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />;
  if (!recipe) return <Skeleton height={80} aria-busy />;
  const files = Object.entries(recipe.files);
  const same = files.length === 1 && files[0]?.[1] === recipe.dockerfile;
  return (
    <Stack gap="xs">
      {recipe.source && (
        <Text size="xs" style={{ overflowWrap: "anywhere" }}>
          {recipe.source}
        </Text>
      )}
      {files.map(([path, text]) => (
        <TextFile key={path} title={path} text={text} />
      ))}
      {!same && <TextFile title={t`Dockerfile that was built`} text={recipe.dockerfile} />}
    </Stack>
  );
}

function TextFile({ title, text }: { title: string; text: string }) {
  return (
    <Stack gap={2}>
      <Text size="xs" c="dimmed">
        {title}
      </Text>
      <ScrollArea.Autosize mah={240} viewportProps={{ tabIndex: 0, role: "region", "aria-label": title }}>
        <Code block>{text}</Code>
      </ScrollArea.Autosize>
    </Stack>
  );
}
