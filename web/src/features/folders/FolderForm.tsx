import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Radio, Select, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Folder, FolderCreate, Permission, UsageMode } from "@/api/types";
import { may } from "@/me/may";
import { useMe } from "@/me/use-me";
import { useCreateFolder } from "@/queries/folders";
import { Form } from "@/ui/form/Form";
import { FormDrawer } from "@/ui/form/FormDrawer";
import { focusFirst, useProblemForm } from "@/ui/form/use-problem-form";
import { createFolderCommand, isFolderName } from "./command";
import { HostInput } from "./HostInput";
import { PERMISSION_ORDER, PERMISSIONS, USAGE_MODE_NAMES } from "./words";

interface Props {
  opened: boolean;
  onClose: () => void;
  onMade: (folder: Folder) => void;
}

/** Creates a folder. */
export function FolderFormDrawer({ opened, onClose, onMade }: Props) {
  const { t } = useLingui();
  return (
    <FormDrawer
      opened={opened}
      onClose={onClose}
      size="lg"
      title={t`New folder`}
      closeButtonProps={{ "aria-label": t`Close` }}
    >
      <FolderForm onCancel={onClose} onMade={onMade} />
    </FormDrawer>
  );
}

type Values = { name: string; host: string; project: string; usage_mode: UsageMode; permission: Permission };

export function FolderForm({ onCancel, onMade }: { onCancel: () => void; onMade: (folder: Folder) => void }) {
  const { t, i18n } = useLingui();
  const me = useMe();
  const create = useCreateFolder();
  // Idempotency key: a repeated request returns the same folder.
  const [key] = useState(() => crypto.randomUUID?.() ?? String(Math.random()));
  const form = useProblemForm<Values>(
    {
      initialValues: { name: "", host: "", project: "", usage_mode: "general", permission: "rw" },
      validateInputOnBlur: ["name"],
      validate: {
        name: (name, { project }) => {
          if (!isFolderName(name)) return t`1 to 64 letters, digits, -, _ or .`;
          return project && name.startsWith(".")
            ? t`The name of a project folder cannot start with a dot.`
            : null;
        },
      },
    },
    create.error,
  );
  const { name, host, project, usage_mode, permission } = form.values;
  const projects = me.projects.filter(({ id }) =>
    may(me, "vfolder.create", { project: id, domain: me.user.domain.id }),
  );
  const request: FolderCreate = {
    name,
    usage_mode,
    permission,
    ...(host ? { host } : {}),
    ...(project ? { project: projects.find(({ id }) => id === project)?.name ?? project } : {}),
  };
  const save = form.onSubmit(
    () => create.mutate({ key, ...request, project: project || undefined }, { onSuccess: onMade }),
    focusFirst(form),
  );
  return (
    <Form
      onSubmit={save}
      submit={<Trans>Create</Trans>}
      onCancel={onCancel}
      busy={create.isPending}
      problem={create.error}
      command={createFolderCommand(request)}
    >
      <TextInput
        label={t`Name`}
        description={t`If the name starts with a dot, such as .config, the folder is mounted automatically into each of your sessions.`}
        withAsterisk
        maxLength={64}
        autoComplete="off"
        spellCheck={false}
        data-autofocus
        {...form.getInputProps("name")}
      />
      {name.startsWith(".") && !project && (
        <Alert color="gray" variant="light" p="xs">
          <Trans>It is mounted automatically into each of your new sessions. It cannot be shared.</Trans>
        </Alert>
      )}
      {projects.length > 0 && (
        <Select
          label={t`Owner`}
          description={t`Project folders are available to all members of the project.`}
          data={[
            { value: "", label: t`Mine` },
            ...projects.map((one) => ({ value: one.id, label: t`Project ${one.name}` })),
          ]}
          allowDeselect={false}
          {...form.getInputProps("project")}
        />
      )}
      <HostInput
        value={host}
        error={form.errors.host}
        onChange={(next) => form.setFieldValue("host", next)}
      />
      <Select
        label={t`Usage`}
        data={(Object.keys(USAGE_MODE_NAMES) as UsageMode[]).map((value) => ({
          value,
          label: i18n._(USAGE_MODE_NAMES[value]),
        }))}
        allowDeselect={false}
        {...form.getInputProps("usage_mode")}
      />
      <Radio.Group
        label={t`Permission`}
        description={
          project
            ? t`The permission of the project's members, and how it is mounted.`
            : t`The highest permission with which it can be mounted.`
        }
        {...form.getInputProps("permission")}
      >
        <Stack gap="xs" mt={6}>
          {PERMISSION_ORDER.map((one) => (
            <Radio
              key={one}
              value={one}
              label={i18n._(PERMISSIONS[one].title)}
              description={i18n._(PERMISSIONS[one].text)}
            />
          ))}
        </Stack>
      </Radio.Group>
    </Form>
  );
}
