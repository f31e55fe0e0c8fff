import { Trans, useLingui } from "@lingui/react/macro";
import { Autocomplete, SegmentedControl, Select, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMe } from "@/me/use-me";
import { useBuildEnvironment } from "@/queries/environment-builds";
import { environmentsChoiceQuery } from "@/queries/environments";
import { foldersChoiceQuery } from "@/queries/folders";
import { imagesListQuery } from "@/queries/images";
import { Form } from "@/ui/form/Form";
import { FormModal } from "@/ui/form/FormDrawer";
import { focusFirst, useProblemForm } from "@/ui/form/use-problem-form";
import { FolderFields, GitFields, RecipeFields } from "./BuildSourceFields";
import { type BuildValues, buildCommand, EMPTY_BUILD, hasBase, newBuild } from "./build-values";
import { NAME, VERSION } from "./words";

interface Props {
  opened: boolean;
  onClose: () => void;
  onBuilt: (id: string) => void;
}

/** Builds an environment from a recipe, a Git repository or a folder. */
export function BuildDialog({ opened, onClose, onBuilt }: Props) {
  const { t } = useLingui();
  return (
    <FormModal
      opened={opened}
      onClose={onClose}
      size="lg"
      title={t`Build an environment`}
      closeButtonProps={{ "aria-label": t`Close` }}
    >
      {opened && (
        <BuildForm
          onCancel={onClose}
          onBuilt={(id) => {
            onClose();
            onBuilt(id);
          }}
        />
      )}
    </FormModal>
  );
}

function BuildForm({ onCancel, onBuilt }: { onCancel: () => void; onBuilt: (id: string) => void }) {
  const { t } = useLingui();
  const me = useMe();
  const build = useBuildEnvironment();
  const own = (useQuery(environmentsChoiceQuery).data ?? []).filter(({ may_change }) => may_change);
  const images = useQuery(imagesListQuery).data ?? [];
  const folders = useQuery(foldersChoiceQuery);
  const needed = (from: BuildValues["from"], message: string) => (value: string, values: BuildValues) =>
    values.from !== from || value.trim() ? null : message;
  const form = useProblemForm(
    {
      initialValues: EMPTY_BUILD,
      validate: {
        name: (name: string) =>
          NAME.test(name) ? null : t`2 to 40 letters or digits; between them also _ . and -`,
        version: (version: string) =>
          VERSION.test(version) ? null : t`At most 18 letters, digits, _ . or -`,
        text: needed("recipe", t`Write or upload it.`),
        url: needed("git", t`Enter the address.`),
        folder: needed("folder", t`Choose a folder`),
        secret: (secret: string, { from, credentials }: BuildValues) =>
          from !== "git" || !credentials || secret.trim() ? null : t`Enter the token or key.`,
      },
    },
    build.error,
  );
  const { from } = form.values;
  const submit = form.onSubmit(
    (values) => build.mutate(newBuild(values), { onSuccess: (made) => onBuilt(made.id) }),
    focusFirst(form),
  );
  return (
    <Form
      onSubmit={submit}
      submit={<Trans>Build</Trans>}
      onCancel={onCancel}
      busy={build.isPending}
      problem={build.error}
      notice={
        build.isPending &&
        from !== "recipe" && (
          <Text size="sm" role="status">
            {from === "git" ? (
              <Trans>The server fetches the repository. This can take two minutes.</Trans>
            ) : (
              <Trans>The server reads the folder. This can take some minutes.</Trans>
            )}
          </Text>
        )
      }
      command={buildCommand(form.values, folders.data ?? [], me.projects)}
    >
      <Autocomplete
        label={t`Name of the environment`}
        description={t`An existing one gets another version.`}
        withAsterisk
        autoComplete="off"
        spellCheck={false}
        data-autofocus
        data={[...new Set(own.map((one) => one.name))]}
        {...form.getInputProps("name")}
      />
      <div>
        <Text size="sm" fw={500} id="build-source">
          <Trans>Build from</Trans>
        </Text>
        <SegmentedControl
          aria-labelledby="build-source"
          mt={4}
          fullWidth
          data={[
            { value: "recipe", label: t`Recipe` },
            { value: "git", label: t`Git repository` },
            { value: "folder", label: t({ context: "import", message: "Folder" }) },
          ]}
          value={from}
          onChange={(value) => form.setFieldValue("from", value as BuildValues["from"])}
        />
      </div>
      {from === "recipe" && <RecipeFields form={form} />}
      {from === "git" && <GitFields form={form} />}
      {from === "folder" && <FolderFields form={form} folders={folders} />}
      {hasBase(form.values) && (
        <Autocomplete
          label={t`Image below`}
          description={t`If empty, it is the starter image. Environments are env:NAME.`}
          autoComplete="off"
          spellCheck={false}
          data={[...new Set([...images.map((one) => one.name), ...own.map((one) => one.image)])]}
          {...form.getInputProps("base")}
        />
      )}
      <TextInput
        label={t`Version`}
        description={t`If empty, it is the next number.`}
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps("version")}
      />
      <TextInput label={t`Note`} maxLength={500} {...form.getInputProps("note")} />
      <Select
        label={t`Belongs to`}
        allowDeselect={false}
        data={[
          { value: "", label: t`You` },
          ...me.projects.map((one) => ({ value: one.id, label: t`Project ${one.name}` })),
        ]}
        {...form.getInputProps("project")}
      />
    </Form>
  );
}
