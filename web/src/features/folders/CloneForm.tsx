import { Trans, useLingui } from "@lingui/react/macro";
import { Select, Text, TextInput } from "@mantine/core";
import type { Folder } from "@/api/types";
import { may } from "@/me/may";
import { useMe } from "@/me/use-me";
import { useCloneFolder } from "@/queries/folders";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { focusFirst, useProblemForm } from "@/ui/form/use-problem-form";
import { isFolderName } from "./command";
import { HostInput } from "./HostInput";

const OTHER = "other";

/** Copies a folder under a new name, for the user, a project or another user. */
export function CloneForm({ folder, onDone }: { folder: Folder; onDone: () => void }) {
  const { t } = useLingui();
  const me = useMe();
  const clone = useCloneFolder();
  const form = useProblemForm<{ name: string; host: string; whose: string; owner: string }>(
    {
      initialValues: {
        name: `${folder.name.slice(0, 58)}-copy`,
        host: folder.host.name,
        whose: "",
        owner: "",
      },
      validate: {
        name: (name) => (isFolderName(name) ? null : t`1 to 64 letters, digits, -, _ or .`),
        owner: (owner, { whose }) =>
          whose === OTHER && !owner.includes("@") ? t`Enter an e-mail address.` : null,
      },
    },
    clone.error,
  );
  const projects = me.projects.filter(({ id }) =>
    may(me, "vfolder.create", { project: id, domain: me.user.domain.id }),
  );
  const { name, host, whose } = form.values;
  const owner = whose === OTHER ? form.values.owner.trim() : undefined;
  const project = whose === OTHER ? undefined : whose || undefined;
  return (
    <Form
      onSubmit={form.onSubmit(
        () =>
          clone.mutate(
            { id: folder.id, name, host: host || undefined, owner, project },
            { onSuccess: onDone },
          ),
        focusFirst(form),
      )}
      submit={<Trans>Clone</Trans>}
      onCancel={onDone}
      busy={clone.isPending}
      problem={clone.error}
      command={commandLine(
        "carrel",
        "vfolder",
        "clone",
        folder.name,
        name || "copy",
        ...(host && host !== folder.host.name ? ["--host", host] : []),
        ...(owner === undefined ? [] : ["--owner", owner || "ada@example.org"]),
        ...(project ? ["--project", projects.find(({ id }) => id === project)?.name ?? project] : []),
      )}
    >
      <Text size="sm">
        <Trans>The copy runs in the background. Its progress is shown in the notifications.</Trans>
      </Text>
      <TextInput
        label={t`Name of the copy`}
        withAsterisk
        maxLength={64}
        spellCheck={false}
        data-autofocus
        {...form.getInputProps("name")}
      />
      <Select
        label={t`Owner`}
        data={[
          { value: "", label: t`Mine` },
          ...projects.map((one) => ({ value: one.id, label: t`Project ${one.name}` })),
          { value: OTHER, label: t`Another user` },
        ]}
        allowDeselect={false}
        {...form.getInputProps("whose")}
      />
      {whose === OTHER && (
        <TextInput
          label={t`E-mail`}
          description={t`It counts against the quota of the new owner.`}
          withAsterisk
          type="email"
          autoComplete="off"
          {...form.getInputProps("owner")}
        />
      )}
      <HostInput
        value={host}
        error={form.errors.host}
        onChange={(next) => form.setFieldValue("host", next)}
      />
    </Form>
  );
}
