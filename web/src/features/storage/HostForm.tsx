import { Trans, useLingui } from "@lingui/react/macro";
import { Select, Skeleton, Switch, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { StorageHost, StorageHostCreate, StorageHostUpdate } from "@/api/types";
import { hostKindsQuery, hostsShowQuery, useCreateHost, useUpdateHost } from "@/queries/hosts";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { FormDrawer } from "@/ui/form/FormDrawer";
import { SettingFields } from "@/ui/form/SettingFields";
import { givenSettings, settingsOf, settingWords } from "@/ui/form/settings";
import { focusFirst, useProblemForm } from "@/ui/form/use-problem-form";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { BACKENDS } from "./words";

interface Props {
  opened: boolean;
  /** Id of the host to edit; absent for a new one. */
  id?: string;
  onClose: () => void;
}

/** Adds or edits a storage host. */
export function HostFormDrawer({ opened, id, onClose }: Props) {
  const { t } = useLingui();
  const query = useQuery({ ...hostsShowQuery(id ?? ""), enabled: id !== undefined });
  return (
    <FormDrawer
      opened={opened}
      onClose={onClose}
      size="lg"
      title={id ? t`Edit ${query.data?.name ?? t`storage host`}` : t`New storage host`}
      closeButtonProps={{ "aria-label": t`Close` }}
    >
      {id === undefined ? (
        <HostForm host={undefined} onDone={onClose} />
      ) : query.data ? (
        <HostForm key={id} host={query.data} onDone={onClose} />
      ) : query.isError ? (
        <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <Skeleton height={320} aria-busy />
      )}
    </FormDrawer>
  );
}

type Values = Required<Omit<StorageHostCreate, "backend">> & { backend: StorageHost["backend"] };
const CHANGED = ["name", "description", "active", "public"] as const;

function HostForm({ host, onDone }: { host: StorageHost | undefined; onDone: () => void }) {
  const { t, i18n } = useLingui();
  const create = useCreateHost();
  const update = useUpdateHost();
  const sent = host ? update : create;
  const form = useProblemForm<Values>(
    {
      initialValues: {
        name: host?.name ?? "",
        backend: host?.backend ?? "posix",
        root: host?.root ?? "",
        settings: {} as Record<string, unknown>,
        description: host?.description ?? "",
        active: host?.active ?? true,
        public: host?.public ?? true,
      },
      validate: {
        name: (name) =>
          /^[a-z0-9]([a-z0-9_.-]{0,62}[a-z0-9])?$/.test(name)
            ? null
            : t`1 to 64 lowercase letters and digits, with _ . - between them`,
        root: (root) => (root.startsWith("/") ? null : t`An absolute path, such as /srv/folders`),
      },
    },
    sent.error,
  );
  const { values } = form;
  const { data: kinds = [] } = useQuery(hostKindsQuery);
  const kind = kinds.find((one) => one.kind === values.backend);
  const words = BACKENDS[values.backend];
  const own = settingsOf(kind?.settings).filter(({ name }) => name !== "root");
  const given = givenSettings(own, values.settings);
  const changed: StorageHostUpdate = host
    ? Object.fromEntries(CHANGED.filter((key) => values[key] !== host[key]).map((key) => [key, values[key]]))
    : {};
  const nothing = host !== undefined && Object.keys(changed).length === 0;
  const titleOf = (one: { kind: string; title: string }) => {
    const known = BACKENDS[one.kind];
    return known ? i18n._(known.title) : one.title;
  };
  const save = form.onSubmit(() => {
    if (!host) return create.mutate({ ...values, settings: given }, { onSuccess: onDone });
    if (nothing) return onDone();
    update.mutate({ id: host.id, ...changed }, { onSuccess: onDone });
  }, focusFirst(form));
  return (
    <Form
      onSubmit={save}
      submit={nothing ? <Trans>Nothing changed</Trans> : host ? <Trans>Save</Trans> : <Trans>Create</Trans>}
      onCancel={onDone}
      busy={sent.isPending}
      problem={sent.error}
      command={nothing ? undefined : hostCommand(host, values, changed, settingWords(own, given))}
    >
      <TextInput
        label={t`Name`}
        withAsterisk
        maxLength={64}
        autoComplete="off"
        spellCheck={false}
        data-autofocus
        {...form.getInputProps("name")}
      />
      <Select
        label={t`Kind`}
        description={words ? i18n._(words.text) : kind?.description}
        disabled={host !== undefined}
        allowDeselect={false}
        data={(kinds.length ? kinds : [{ kind: values.backend, title: values.backend }]).map((one) => ({
          value: one.kind,
          label: titleOf(one),
        }))}
        {...form.getInputProps("backend")}
      />
      <TextInput
        label={t`Root`}
        description={
          host
            ? t`The root directory cannot be changed.`
            : t`A directory of the server. Engines whose nodes have it elsewhere get a location afterwards.`
        }
        withAsterisk
        disabled={host !== undefined}
        spellCheck={false}
        placeholder="/srv/folders"
        {...form.getInputProps("root")}
      />
      {!host && (
        <SettingFields
          settings={own}
          values={values.settings}
          errorOf={(name) => form.errors[`settings.${name}`]}
          onChange={(name, value) => form.setFieldValue("settings", { ...values.settings, [name]: value })}
        />
      )}
      <Textarea
        label={t`Description`}
        description={t`What the host is suited for. Shown when users choose a host.`}
        autosize
        minRows={2}
        maxLength={500}
        {...form.getInputProps("description")}
      />
      <Switch
        label={t`Active`}
        description={t`If off, no new folders can be created on the host. Existing folders are not affected.`}
        {...form.getInputProps("active", { type: "checkbox" })}
      />
      <Switch
        label={t`Public`}
        description={t`If on, all users whose domain has access can use the host. If off, only the listed domains and projects can.`}
        {...form.getInputProps("public", { type: "checkbox" })}
      />
    </Form>
  );
}

/** The CLI command that adds or changes the host. */
function hostCommand(
  host: StorageHost | undefined,
  values: Values,
  changed: StorageHostUpdate,
  settings: readonly string[],
): string {
  const flag = (on: boolean | undefined, yes: string, no: string) =>
    on === undefined ? [] : [on ? yes : no];
  if (host) {
    return commandLine(
      "carrel",
      "storage-host",
      "update",
      host.name,
      ...(changed.name ? ["--name", changed.name] : []),
      ...(changed.description === undefined ? [] : ["--description", changed.description]),
      ...flag(changed.active, "--active", "--inactive"),
      ...flag(changed.public, "--public", "--closed"),
    );
  }
  return commandLine(
    "carrel",
    "storage-host",
    "create",
    values.backend,
    values.name || "fast",
    "--root",
    values.root || "/srv/folders",
    ...settings,
    ...(values.description ? ["--description", values.description] : []),
    ...(values.active ? [] : ["--inactive"]),
    ...(values.public ? [] : ["--closed"]),
  );
}
