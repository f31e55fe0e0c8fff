import { Trans, useLingui } from "@lingui/react/macro";
import { Group, Select, Skeleton, Stack, Text, Title } from "@mantine/core";
import { IconUserMinus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { Environment, EnvironmentShare } from "@/api/types";
import { UsersInput } from "@/features/resources/UsersInput";
import { useMe } from "@/me/use-me";
import { environmentSharesQuery, useShareEnvironment, useUnshareEnvironment } from "@/queries/environments";
import { projectsChoiceQuery } from "@/queries/projects";
import { commandLine } from "@/ui/command";
import { askToConfirm } from "@/ui/form/ConfirmDialog";
import { Form } from "@/ui/form/Form";
import { useProblemForm } from "@/ui/form/use-problem-form";
import { formatInstant } from "@/ui/format";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { RowTool } from "@/ui/table/RowTool";

type Values = { users: string[]; project: string | null };

const NOBODY: Values = { users: [], project: null };

/** With whom an environment is shared; share, revoke. */
export function EnvironmentSharing({ environment }: { environment: Environment }) {
  const { t } = useLingui();
  const me = useMe();
  const { id } = environment;
  const shares = useQuery(environmentSharesQuery(id));
  const projects = useQuery(projectsChoiceQuery(undefined)).data ?? me.projects;
  const share = useShareEnvironment();
  const form = useProblemForm<Values>({ initialValues: NOBODY }, share.error);
  const { users, project } = form.values;
  const requests = [...users.map((user) => ({ user })), ...(project ? [{ project }] : [])];
  const send = form.onSubmit(() =>
    share.mutate({ id, requests }, { onSuccess: () => form.setValues(NOBODY) }),
  );
  const recipient = project
    ? ["--project", projects.find((one) => one.id === project)?.name ?? project]
    : ["--with", users[0] ?? "ada@example.org"];
  return (
    <Stack component="section" gap="xs">
      <Title order={3} size="h6">
        <Trans>Shared with</Trans>
      </Title>
      {shares.isPending && <Skeleton height={60} aria-busy />}
      {shares.isError && <ProblemAlert problem={shares.error} onRetry={() => void shares.refetch()} />}
      {shares.data?.length === 0 && (
        <Text size="sm" c="dimmed">
          <Trans>Not shared</Trans>
        </Text>
      )}
      {shares.data?.map((one) => (
        <ShareRow key={one.id} environment={environment} share={one} />
      ))}
      <Form
        onSubmit={send}
        submit={<Trans>Share</Trans>}
        busy={share.isPending}
        blocked={requests.length === 0}
        problem={share.error}
        command={commandLine("carrel", "environment", "share", id, ...recipient)}
      >
        <UsersInput
          label={t`People`}
          description={t`Users of your domain. They see the environment and start sessions from it.`}
          value={users}
          error={form.errors.user}
          onChange={(next) => form.setFieldValue("users", next)}
        />
        <Select
          label={t`Project`}
          description={t`All members of the project get access.`}
          searchable
          clearable
          nothingFoundMessage={t`Nothing found`}
          data={projects.map((one) => ({ value: one.id, label: one.name }))}
          {...form.getInputProps("project")}
        />
      </Form>
    </Stack>
  );
}

function ShareRow({ environment, share }: { environment: Environment; share: EnvironmentShare }) {
  const { t, i18n } = useLingui();
  const { mutateAsync: unshare } = useUnshareEnvironment();
  const { id, name } = environment;
  const who = share.project ? t`Project ${share.project.name}` : (share.user?.email ?? "");
  const since = formatInstant(share.created_at, i18n.locale);
  const revoke = () =>
    askToConfirm({
      title: t`Stop sharing`,
      closeLabel: t`Close`,
      confirm: t`Stop sharing`,
      command: commandLine("carrel", "environment", "unshare", id, share.id),
      onConfirm: () => unshare({ id, share: share.id }),
      children: (
        <Trans>
          <b>{who}</b> can no longer start sessions from <b>{name}</b>. Sessions that run go on.
        </Trans>
      ),
    });
  return (
    <Group gap="xs" wrap="nowrap" justify="space-between">
      <Stack gap={0} style={{ minWidth: 0, flex: 1 }}>
        <Text size="sm" truncate title={who}>
          {who}
        </Text>
        <Text size="xs" c="dimmed">
          <Trans>since {since}</Trans>
        </Text>
      </Stack>
      <RowTool label={t`Stop sharing`} row={who} icon={IconUserMinus} color="red" onClick={revoke} />
    </Group>
  );
}
