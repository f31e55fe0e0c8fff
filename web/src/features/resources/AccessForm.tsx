import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, MultiSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Group } from "@/api/types";
import { useRefusal } from "@/me/may";
import { domainsChoiceQuery } from "@/queries/domains";
import { useSetAccess } from "@/queries/groups";
import { projectsChoiceQuery } from "@/queries/projects";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { useProblemForm } from "@/ui/form/use-problem-form";
import { withNamed } from "./choice";
import { UsersInput } from "./UsersInput";

type Values = { domains: string[]; projects: string[]; users: string[] };

const NOBODY = { domains: [], projects: [], users: [] };

/** Access list of a resource group that is not public. */
export function AccessForm({ group }: { group: Group }) {
  const { t } = useLingui();
  const set = useSetAccess();
  const refusal = useRefusal()("group.update");
  const { domains, projects, users } = group.access ?? NOBODY;
  const form = useProblemForm<Values>(
    {
      initialValues: {
        domains: domains.map(({ id }) => id),
        projects: projects.map(({ id }) => id),
        users: users.map(({ email }) => email),
      },
    },
    set.error,
  );
  const everyDomain = withNamed(useQuery(domainsChoiceQuery).data, domains, ({ name }) => name);
  const everyProject = withNamed(
    useQuery(projectsChoiceQuery(undefined)).data?.map((each) => ({ ...each, domain: each.domain.name })),
    projects,
    ({ name, domain }) => `${name} (${domain})`,
  );
  const before = form.getInitialValues();
  const change = (kind: keyof Values, word: string, format: (id: string) => string) => [
    ...form.values[kind]
      .filter((id) => !before[kind].includes(id))
      .flatMap((id) => ["--allow", `${word}=${format(id)}`]),
    ...before[kind]
      .filter((id) => !form.values[kind].includes(id))
      .flatMap((id) => ["--deny", `${word}=${format(id)}`]),
  ];
  return (
    <Form
      onSubmit={form.onSubmit((values) =>
        set.mutate({ id: group.id, ...values }, { onSuccess: () => form.resetDirty(values) }),
      )}
      submit={<Trans>Save</Trans>}
      blocked={refusal !== null || !form.isDirty()}
      busy={set.isPending}
      problem={set.error}
      command={commandLine(
        "carrel",
        "group",
        "access",
        group.name,
        ...change("domains", "domain", (id) => everyDomain.find(({ value }) => value === id)?.label ?? id),
        // Project names are unique only within a domain.
        ...change("projects", "project", (id) => id),
        ...change("users", "user", (email) => email),
      )}
    >
      {group.public && (
        <Alert color="gray" variant="light">
          <Trans>The group is public. This list applies only when it is not.</Trans>
        </Alert>
      )}
      <MultiSelect
        label={t`Domains`}
        description={t`All users of these domains.`}
        searchable
        nothingFoundMessage={t`Nothing found`}
        data={everyDomain}
        {...form.getInputProps("domains")}
      />
      <MultiSelect
        label={t`Projects`}
        description={t`Sessions of these projects.`}
        searchable
        nothingFoundMessage={t`Nothing found`}
        data={everyProject}
        {...form.getInputProps("projects")}
      />
      <UsersInput
        label={t`Users`}
        description={t`By e-mail address, in all their projects.`}
        value={form.values.users}
        error={form.errors.users}
        onChange={(users) => form.setFieldValue("users", users)}
      />
    </Form>
  );
}
