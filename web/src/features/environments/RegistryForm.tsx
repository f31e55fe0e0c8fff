import { Trans, useLingui } from "@lingui/react/macro";
import { Checkbox, PasswordInput, Select, Skeleton, TagsInput, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Registry } from "@/api/types";
import { useMe } from "@/me/use-me";
import { registriesShowQuery, useCreateRegistry, useUpdateRegistry } from "@/queries/registries";
import { Form } from "@/ui/form/Form";
import { FormDrawer } from "@/ui/form/FormDrawer";
import { focusFirst, useProblemForm } from "@/ui/form/use-problem-form";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { changed, created, type RegistryValues, registryCommand, valuesOf } from "./registry-values";
import { REGISTRY_KINDS } from "./registry-words";
import { ScopeSelect } from "./ScopeSelect";

interface Props {
  opened: boolean;
  /** Id of the registry to edit; absent for a new one. */
  id?: string;
  onClose: (saved?: Registry) => void;
}

/** Adds or edits a registry. */
export function RegistryFormDrawer({ opened, id, onClose }: Props) {
  const { t } = useLingui();
  const query = useQuery({ ...registriesShowQuery(id ?? ""), enabled: id !== undefined });
  return (
    <FormDrawer
      opened={opened}
      onClose={() => onClose()}
      size="lg"
      title={id ? t`Edit ${query.data?.name ?? t`registry`}` : t`New registry`}
      closeButtonProps={{ "aria-label": t`Close` }}
    >
      {id === undefined ? (
        <RegistryForm registry={undefined} onDone={onClose} />
      ) : query.data ? (
        <RegistryForm key={id} registry={query.data} onDone={onClose} />
      ) : query.isError ? (
        <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <Skeleton height={320} aria-busy />
      )}
    </FormDrawer>
  );
}

const KINDS = Object.entries(REGISTRY_KINDS).map(([value, { title }]) => ({ value, label: title }));

function RegistryForm({
  registry,
  onDone,
}: {
  registry: Registry | undefined;
  onDone: (saved?: Registry) => void;
}) {
  const { t, i18n } = useLingui();
  const me = useMe();
  const create = useCreateRegistry();
  const update = useUpdateRegistry();
  const sent = registry ? update : create;
  const everywhere = me.actions["registry.update"] === "all";
  const form = useProblemForm<RegistryValues>(
    {
      initialValues: valuesOf(registry, everywhere ? "installation" : ""),
      validate: {
        name: (name) =>
          /^[a-z0-9]([a-z0-9_.-]{0,62}[a-z0-9])?$/.test(name)
            ? null
            : t`1 to 64 lowercase letters and digits, with _ . - between them`,
        url: (url, { kind }) =>
          /^https?:\/\/[^/@]+\/?$/.test(url) || (!url && !registry && REGISTRY_KINDS[kind].url)
            ? null
            : t`Scheme, host and port, such as https://registry.example.org:5000`,
        push_repositories: (globs, { push }) =>
          push === "members" && globs.length === 0 ? t`Enter at least one, such as team-a/*` : null,
        scope: (scope) => (registry || scope ? null : t`Choose a project or domain that you administer`),
      },
    },
    sent.error,
  );
  const { values } = form;
  const kind = REGISTRY_KINDS[values.kind];
  const secret = (values.push === "members" && kind.pushSecret) || kind.secret;
  const changes = registry ? changed(registry, values) : {};
  const nothing = registry !== undefined && Object.keys(changes).length === 0;
  const save = form.onSubmit((given) => {
    if (!registry) return create.mutate(created(given), { onSuccess: onDone });
    if (nothing) return onDone();
    update.mutate({ id: registry.id, ...changes }, { onSuccess: onDone });
  }, focusFirst(form));
  return (
    <Form
      onSubmit={save}
      submit={
        nothing ? <Trans>Nothing changed</Trans> : registry ? <Trans>Save</Trans> : <Trans>Create</Trans>
      }
      onCancel={() => onDone()}
      busy={sent.isPending}
      problem={sent.error}
      command={nothing ? undefined : registryCommand(registry, values)}
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
        disabled={registry !== undefined}
        allowDeselect={false}
        data={KINDS}
        {...form.getInputProps("kind")}
      />
      <TextInput
        label={t`Address`}
        description={t`With http:// it is used without encryption.`}
        withAsterisk={!kind.url}
        spellCheck={false}
        placeholder={kind.url ?? "https://registry.example.org"}
        {...form.getInputProps("url")}
      />
      <TextInput
        label={t`Namespace`}
        description={t`Beginning of its repository names, such as a Harbor project or an organization. Empty: all.`}
        spellCheck={false}
        placeholder="team"
        {...form.getInputProps("namespace")}
      />
      {!registry && (
        <ScopeSelect
          value={values.scope}
          onChange={(scope) => form.setFieldValue("scope", scope)}
          error={form.errors.scope}
        />
      )}
      <TextInput
        label={t`User name`}
        description={t`An account or a robot. Public images need none.`}
        autoComplete="off"
        spellCheck={false}
        placeholder={kind.username}
        {...form.getInputProps("username")}
      />
      <PasswordInput
        label={t`Password or token`}
        description={secret && i18n._(secret)}
        autoComplete="new-password"
        placeholder={registry?.has_secret ? t`Set. Leave empty to keep it` : undefined}
        {...form.getInputProps("secret")}
      />
      <TagsInput
        label={t`Repositories`}
        description={t`Without the namespace; * and ? stand for any characters. Empty: all. Registries that do not list their repositories need names here.`}
        splitChars={[",", " "]}
        {...form.getInputProps("repositories")}
      />
      <TagsInput
        label={t`Tags`}
        description={t`Such as 3.*-slim. Empty: all.`}
        splitChars={[",", " "]}
        {...form.getInputProps("tags")}
      />
      <Checkbox
        label={t`Enable images that scans add`}
        description={t`Otherwise sessions may use only images that a superadmin has enabled.`}
        {...form.getInputProps("images_enabled", { type: "checkbox" })}
      />
      <Select
        label={t`Who may push environments`}
        description={t`With the user name and the password of the registry, in the background.`}
        allowDeselect={false}
        data={[
          { value: "nobody", label: t`Nobody` },
          { value: "members", label: t`Members of its project, domain or the installation` },
        ]}
        {...form.getInputProps("push")}
      />
      {values.push === "members" && (
        <TagsInput
          label={t`Repositories for pushes`}
          description={t`Without the namespace, such as team-a/*. Members replace images only there.`}
          withAsterisk
          splitChars={[",", " "]}
          {...form.getInputProps("push_repositories")}
        />
      )}
      <Checkbox
        label={t`Read package databases`}
        description={t`Scans then download the layers of images, each once, to find out what they contain.`}
        {...form.getInputProps("read_packages", { type: "checkbox" })}
      />
      <TextInput
        label={t`Mirror`}
        description={t`Images are scanned and pulled from here instead. It receives the credentials.`}
        spellCheck={false}
        placeholder="https://mirror.example.org"
        {...form.getInputProps("mirror")}
      />
      <Textarea
        label={t`Certificates of its authority`}
        description={t`In PEM, if the system does not trust it. Engines that pull from it need them as well.`}
        autosize
        minRows={2}
        maxRows={6}
        spellCheck={false}
        styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
        {...form.getInputProps("ca_pem")}
      />
    </Form>
  );
}
