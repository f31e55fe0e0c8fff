import { Trans, useLingui } from "@lingui/react/macro";
import { FileInput, Select, Text, Textarea, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import type { UseQueryResult } from "@tanstack/react-query";
import type { Folder } from "@/api/types";
import { CredentialFields } from "@/ui/form/CredentialFields";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { type BuildValues, RECIPES } from "./build-values";

interface Props {
  form: UseFormReturnType<BuildValues>;
}

const MONOSPACE = { input: { fontFamily: "var(--mantine-font-family-monospace)" } };
const EXAMPLES: Record<(typeof RECIPES)[number], string> = {
  "requirements.txt": "numpy==2.1\npandas",
  "environment.yml": "channels: [conda-forge]\ndependencies:\n  - python=3.12\n  - samtools",
  Dockerfile: "FROM starter\nUSER root\nRUN apt-get update && apt-get install -y graphviz",
  "pyproject.toml": '[project]\nname = "lab"\nversion = "1"\ndependencies = ["numpy>=2"]',
  "devcontainer.json": '{\n  "image": "starter",\n  "postCreateCommand": "pip install numpy"\n}',
  "apt.txt": "graphviz\nlibgl1",
};

/** A recipe that is written, pasted or uploaded. */
export function RecipeFields({ form }: Props) {
  const { t } = useLingui();
  const { recipe, textFile, lockFile } = form.values;
  return (
    <>
      <Select
        label={t`Recipe`}
        allowDeselect={false}
        data={[...RECIPES]}
        {...form.getInputProps("recipe")}
        onChange={(value) => {
          const chosen = RECIPES.find((one) => one === value);
          if (chosen) form.setValues({ recipe: chosen, textFile: null, lock: "", lockFile: null });
        }}
      />
      <Textarea
        label={recipe}
        withAsterisk
        autosize
        minRows={5}
        maxRows={16}
        spellCheck={false}
        placeholder={EXAMPLES[recipe]}
        styles={MONOSPACE}
        {...form.getInputProps("text")}
      />
      <FileInput
        label={t`Or upload the file`}
        placeholder={t`Choose a file`}
        value={textFile}
        onChange={async (file) =>
          form.setValues({ textFile: file, ...(file && { text: await file.text() }) })
        }
      />
      {recipe === "pyproject.toml" && (
        <FileInput
          label="uv.lock"
          description={t`With it, exactly what it locks is installed.`}
          placeholder={t`Choose a file`}
          clearable
          value={lockFile}
          onChange={async (file) => form.setValues({ lockFile: file, lock: (await file?.text()) ?? "" })}
        />
      )}
    </>
  );
}

/** A Git repository, which the server fetches. */
export function GitFields({ form }: Props) {
  const { t } = useLingui();
  const { credentials, secret, url } = form.values;
  return (
    <>
      <TextInput
        label={t`Address`}
        description={t`Of a Git repository, as the browser or Git has it. The server fetches it.`}
        placeholder="https://github.com/octocat/Hello-World"
        type="url"
        withAsterisk
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps("url")}
      />
      {url.trim().startsWith("http://") && (
        <Text size="sm">
          <Trans>The connection is not encrypted: others may read and change what is fetched.</Trans>
        </Text>
      )}
      <TextInput
        label={t`Branch, tag or commit`}
        placeholder={t`Default branch`}
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps("ref")}
      />
      <DirectoryFields form={form} />
      <CredentialFields
        kind={credentials}
        onKind={(kind) => form.setFieldValue("credentials", kind)}
        secret={secret}
        onSecret={(value) => form.setFieldValue("secret", value)}
        secretError={form.errors.secret}
        descriptions={{
          token: t`Or user:password. It is used once, and not kept.`,
          key: t`Without a passphrase. It is used once, and not kept.`,
        }}
        required
      />
    </>
  );
}

/** A directory of a folder, which the server reads. */
export function FolderFields({ form, folders }: Props & { folders: UseQueryResult<Folder[]> }) {
  const { t } = useLingui();
  return (
    <>
      <Select
        label={t({ context: "import", message: "Folder" })}
        description={t`Its files are kept with the version, so that it can be built again.`}
        withAsterisk
        searchable
        placeholder={t`Choose a folder`}
        nothingFoundMessage={folders.isPending ? t`Loading` : folders.data && t`No folder`}
        data={(folders.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
        {...form.getInputProps("folder")}
        value={form.values.folder || null}
        onChange={(folder) => form.setFieldValue("folder", folder ?? "")}
      />
      {folders.isError && <ProblemAlert problem={folders.error} onRetry={() => void folders.refetch()} />}
      <DirectoryFields form={form} />
    </>
  );
}

function DirectoryFields({ form }: Props) {
  const { t } = useLingui();
  return (
    <>
      <TextInput
        label={t`Directory`}
        placeholder={t`All of it`}
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps("path")}
      />
      <TextInput
        label={t`Recipe`}
        description={t`If empty: binder/, Dockerfile, environment.yml, requirements.txt, pyproject.toml, apt.txt, or devcontainer.json.`}
        placeholder="docker/Dockerfile"
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps("file")}
      />
    </>
  );
}
