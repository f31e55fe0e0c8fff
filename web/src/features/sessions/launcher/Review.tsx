import { Trans, useLingui } from "@lingui/react/macro";
import { Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef } from "react";
import type { Check, SessionCreate } from "@/api/types";
import { definitionQuery } from "@/queries/schedules";
import { CommandLine } from "@/ui/CommandLine";
import { CopyButton } from "@/ui/CopyButton";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { createCommand, fileCommand } from "./command";
import { RequestSummary } from "./RequestSummary";
import styles from "./RequestSummary.module.css";
import { ReviewLimits } from "./ReviewLimits";

interface Props {
  /** With the names of its folders. */
  request: SessionCreate;
  /** The name of the session with this id, after which it starts. */
  nameOf: (id: string) => string;
  check: Check | undefined;
}

/** What will be requested: in words, against the limits, as a command and as a definition. */
export function Review({ request, nameOf, check }: Props) {
  const { t } = useLingui();
  const head = useRef<HTMLHeadingElement>(null);
  const definition = useQuery(definitionQuery(request));
  const text = definition.data;
  useEffect(() => {
    head.current?.focus();
    head.current?.scrollIntoView?.({ block: "end" });
  }, []);
  const roles = (request.roles?.length ?? 0) > 0;
  const command = roles ? text && fileCommand(request, text) : createCommand(request);
  return (
    <Stack gap="lg">
      <Title order={3} size="h4" ref={head} tabIndex={-1} style={{ outline: "none" }}>
        <Trans>Review</Trans>
      </Title>
      <RequestSummary
        request={{
          ...request,
          name: request.name ?? t`generated`,
          project: request.project ?? check?.project.name,
        }}
        nameOf={nameOf}
      />
      {check && <ReviewLimits check={check} request={request} />}
      <Part title={t`Equivalent command`}>
        {command ? <CommandLine text={command} /> : <Skeleton height={60} aria-busy />}
      </Part>
      <Part
        title={t`Definition`}
        text={
          request.kind === "batch" ? (
            <Trans>
              Saved as job.yaml, <code>carrel run -f job.yaml</code> does the same.
            </Trans>
          ) : (
            <Trans>
              Saved as session.yaml, <code>carrel session create -f session.yaml</code> does the same.
            </Trans>
          )
        }
        tool={text && <CopyButton text={text} label={t`Copy definition`} />}
      >
        {definition.isError ? (
          <ProblemAlert problem={definition.error} onRetry={() => void definition.refetch()} />
        ) : text ? (
          <pre className={styles.definition} data-definition>
            {text}
          </pre>
        ) : (
          <Skeleton height={120} aria-busy />
        )}
      </Part>
    </Stack>
  );
}

interface PartProps {
  title: string;
  text?: ReactNode;
  tool?: ReactNode;
  children: ReactNode;
}

const Part = ({ title, text, tool, children }: PartProps) => (
  <Stack gap={4} component="section" aria-label={title}>
    <Group justify="space-between" wrap="nowrap">
      <Text size="sm" fw={500}>
        {title}
      </Text>
      {tool}
    </Group>
    {text && (
      <Text size="xs" c="dimmed">
        {text}
      </Text>
    )}
    {children}
  </Stack>
);
