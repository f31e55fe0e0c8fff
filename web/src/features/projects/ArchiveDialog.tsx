import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import { useState } from "react";
import type { WholeProject } from "@/api/types";
import { LiveSessionsInput } from "@/features/users/LiveSessionsInput";
import { useArchiveProject } from "@/queries/projects";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { useUnsavedInput } from "@/ui/form/unsaved-input";

/** Confirms archiving a project, and asks what happens to its live sessions. */
export function ArchiveDialog({ project, onDone }: { project: WholeProject; onDone: () => void }) {
  const { t } = useLingui();
  const archive = useArchiveProject();
  const [sessions, setSessions] = useState<"keep" | "end">("keep");
  useUnsavedInput(() => sessions !== "keep" && !archive.isPending);
  const needsChoice = project.live_sessions > 0 || archive.error?.code === "project.has_sessions";
  return (
    <Form
      onSubmit={(event) => {
        event?.preventDefault();
        archive.mutate({ id: project.id, sessions: needsChoice ? sessions : null }, { onSuccess: onDone });
      }}
      submit={t`Archive`}
      onCancel={onDone}
      busy={archive.isPending}
      problem={archive.error}
      command={commandLine(
        "carrel",
        "project",
        "archive",
        project.name,
        ...(needsChoice ? ["--sessions", sessions] : []),
      )}
    >
      <Text size="sm">
        <Trans>
          <b>{project.name}</b> accepts no new sessions until it is restored. Nothing is deleted.
        </Trans>
      </Text>
      {needsChoice && (
        <LiveSessionsInput
          label={<Plural value={project.live_sessions} one="# live session" other="# live sessions" />}
          value={sessions}
          onChange={setSessions}
        />
      )}
    </Form>
  );
}
