import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Alert, List, MultiSelect, Select, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Problem } from "@/api/problem";
import type { Folder, Permission, SharesAdded } from "@/api/types";
import { UsersInput } from "@/features/resources/UsersInput";
import { useMe } from "@/me/use-me";
import { projectsChoiceQuery } from "@/queries/projects";
import { useShareFolder } from "@/queries/shares";
import { useProblemText } from "@/sentences/use-problem-text";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { useProblemForm } from "@/ui/form/use-problem-form";
import { PERMISSION_ORDER, PERMISSIONS } from "./words";

type Values = { users: string[]; projects: string[]; permission: Permission };

const NOBODY = { users: [], projects: [] };

/** Invites users to a folder by e-mail, and shares it with projects. */
export function ShareForm({ folder }: { folder: Folder }) {
  const { t, i18n } = useLingui();
  const me = useMe();
  const share = useShareFolder();
  const form = useProblemForm<Values>({ initialValues: { ...NOBODY, permission: "ro" } }, share.error);
  const listed = useQuery(projectsChoiceQuery(undefined)).data ?? me.projects;
  const projects = listed.filter(({ id }) => id !== folder.project?.id);
  const { users, permission } = form.values;
  const nobody = users.length + form.values.projects.length === 0;
  const name = (id: string) => projects.find((one) => one.id === id)?.name ?? id;
  const send = form.onSubmit((values) =>
    share.mutate(
      { folder: folder.id, ...values },
      {
        onSuccess: ({ refused }) => {
          // Keep the failed ones for correction, and the permission.
          const left = new Set(refused.map(({ who }) => who));
          form.resetDirty({ ...NOBODY, permission: values.permission });
          form.setValues({
            users: values.users.filter((one) => left.has(one)),
            projects: values.projects.filter((one) => left.has(one) || left.has(name(one))),
          });
        },
      },
    ),
  );
  return (
    <Form
      onSubmit={send}
      submit={<Trans>Share</Trans>}
      busy={share.isPending}
      blocked={nobody}
      problem={share.error}
      notice={share.data && <Outcome outcome={share.data} />}
      command={commandLine(
        "carrel",
        "vfolder",
        "share",
        folder.name,
        ...(nobody ? ["ada@example.org"] : users),
        ...form.values.projects.flatMap((one) => ["--with-project", name(one)]),
        "--permission",
        permission,
      )}
    >
      <UsersInput
        label={t`People`}
        description={t`Enter e-mail addresses, such as ada@example.org. Each user gets an invitation.`}
        value={users}
        error={form.errors.users}
        onChange={(next) => form.setFieldValue("users", next)}
      />
      {projects.length > 0 && (
        <MultiSelect
          label={t`Projects`}
          description={t`All members of these projects get access immediately.`}
          searchable
          nothingFoundMessage={t`Nothing found`}
          data={projects.map((one) => ({ value: one.id, label: one.name }))}
          {...form.getInputProps("projects")}
        />
      )}
      <Select
        label={t`Permission`}
        description={i18n._(PERMISSIONS[permission].text)}
        allowDeselect={false}
        data={PERMISSION_ORDER.map((value) => ({ value, label: i18n._(PERMISSIONS[value].title) }))}
        {...form.getInputProps("permission")}
      />
    </Form>
  );
}

/** The users that were invited, and the failed ones with the reason. */
function Outcome({ outcome }: { outcome: SharesAdded }) {
  const problemText = useProblemText();
  const { items, refused } = outcome;
  return (
    <Stack gap="xs">
      {items.length > 0 && (
        <Text size="sm" role="status">
          <Plural value={items.length} one="Shared with # other." other="Shared with # others." />
        </Text>
      )}
      {refused.length > 0 && (
        <Alert color="red" variant="light" role="alert" title={<Trans>Could not share with:</Trans>}>
          <List size="sm">
            {refused.map(({ who, code, message }) => (
              <List.Item key={who}>
                <b>{who}</b>: {problemText(new Problem({ status: 409, code, detail: message })).detail}
              </List.Item>
            ))}
          </List>
        </Alert>
      )}
    </Stack>
  );
}
