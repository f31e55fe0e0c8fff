import { Trans, useLingui } from "@lingui/react/macro";
import { Autocomplete, FileInput, Select, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMe } from "@/me/use-me";
import { useBuildEnvironment } from "@/queries/environment-builds";
import { environmentsChoiceQuery } from "@/queries/environments";
import { imagesListQuery } from "@/queries/images";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { FormModal } from "@/ui/form/FormDrawer";
import { focusFirst, useProblemForm } from "@/ui/form/use-problem-form";
import { NAME, VERSION } from "./words";

interface Props {
  opened: boolean;
  onClose: () => void;
  onBuilt: (id: string) => void;
}

/** Builds an environment from a text that the user writes, pastes or uploads. */
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

const RECIPES = [
  "requirements.txt",
  "environment.yml",
  "Dockerfile",
  "pyproject.toml",
  "devcontainer.json",
  "apt.txt",
] as const;
const EXAMPLES: Record<(typeof RECIPES)[number], string> = {
  "requirements.txt": "numpy==2.1\npandas",
  "environment.yml": "channels: [conda-forge]\ndependencies:\n  - python=3.12\n  - samtools",
  Dockerfile: "FROM starter\nUSER root\nRUN apt-get update && apt-get install -y graphviz",
  "pyproject.toml": '[project]\nname = "lab"\nversion = "1"\ndependencies = ["numpy>=2"]',
  "devcontainer.json": '{\n  "image": "starter",\n  "postCreateCommand": "pip install numpy"\n}',
  "apt.txt": "graphviz\nlibgl1",
};

function BuildForm({ onCancel, onBuilt }: { onCancel: () => void; onBuilt: (id: string) => void }) {
  const { t } = useLingui();
  const me = useMe();
  const build = useBuildEnvironment();
  const own = (useQuery(environmentsChoiceQuery).data ?? []).filter(({ may_change }) => may_change);
  const images = useQuery(imagesListQuery).data ?? [];
  const form = useProblemForm(
    {
      initialValues: {
        name: "",
        version: "",
        note: "",
        project: "",
        recipe: "requirements.txt" as (typeof RECIPES)[number],
        text: "",
        lock: "",
        base: "",
      },
      validate: {
        name: (name: string) =>
          NAME.test(name) ? null : t`2 to 40 letters or digits; between them also _ . and -`,
        version: (version: string) =>
          VERSION.test(version) ? null : t`At most 18 letters, digits, _ . or -`,
        text: (text: string) => (text.trim() ? null : t`Write or upload it.`),
      },
    },
    build.error,
  );
  const { name, version, note, project, recipe, text, lock, base } = form.values;
  const ownBase = recipe !== "Dockerfile" && recipe !== "devcontainer.json";
  const submit = form.onSubmit(
    () =>
      build.mutate(
        {
          name,
          note,
          files: { [recipe]: text, ...(recipe === "pyproject.toml" && lock && { "uv.lock": lock }) },
          ...(recipe === "apt.txt" ? {} : { file: recipe }),
          ...(version && { version }),
          ...(project && { project }),
          ...(base && ownBase && { base }),
        },
        { onSuccess: (made) => onBuilt(made.id) },
      ),
    focusFirst(form),
  );
  return (
    <Form
      onSubmit={submit}
      submit={<Trans>Build</Trans>}
      onCancel={onCancel}
      busy={build.isPending}
      problem={build.error}
      command={commandLine(
        ...["carrel", "environment", "build", `${name || "NAME"}${version && `:${version}`}`],
        ...(recipe === "apt.txt" ? ["."] : ["-f", recipe]),
        ...(base && ownBase ? ["--base", base] : []),
        ...(note ? ["--note", note] : []),
        ...(project ? ["--project", me.projects.find((one) => one.id === project)?.name ?? project] : []),
      )}
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
      <Select
        label={t`Recipe`}
        description={t`For a directory or a Git repository, use the command line: carrel environment build.`}
        allowDeselect={false}
        data={[...RECIPES]}
        {...form.getInputProps("recipe")}
      />
      <Textarea
        label={recipe}
        withAsterisk
        autosize
        minRows={5}
        maxRows={16}
        spellCheck={false}
        placeholder={EXAMPLES[recipe]}
        styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
        {...form.getInputProps("text")}
      />
      <FileInput
        label={t`Or upload the file`}
        placeholder={t`Choose a file`}
        clearable
        onChange={(file) => void file?.text().then((content) => form.setFieldValue("text", content))}
      />
      {recipe === "pyproject.toml" && (
        <FileInput
          label="uv.lock"
          description={t`With it, exactly what it locks is installed.`}
          placeholder={t`Choose a file`}
          clearable
          onChange={async (file) => form.setFieldValue("lock", (await file?.text()) ?? "")}
        />
      )}
      {ownBase && (
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
