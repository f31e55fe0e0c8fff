import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Select, Skeleton, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Environment, EnvironmentVersion, PushTarget } from "@/api/types";
import { environmentPushTargetsQuery, usePushVersion } from "@/queries/environments";
import { PROBLEMS } from "@/sentences/problems";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { FormModal } from "@/ui/form/FormDrawer";
import { focusFirst, useProblemForm } from "@/ui/form/use-problem-form";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { REPOSITORY, TAG } from "./words";

interface Props {
  environment: Environment;
  version: EnvironmentVersion;
  opened: boolean;
  onClose: () => void;
}

/** Pushes a version to a registry that permits it; its progress is in the details of the environment. */
export function PushDialog({ environment, version, opened, onClose }: Props) {
  const { t } = useLingui();
  const targets = useQuery({ ...environmentPushTargetsQuery(environment.id), enabled: opened });
  return (
    <FormModal
      opened={opened}
      onClose={onClose}
      size="lg"
      title={t`Push ${environment.name}:${version.name}`}
      closeButtonProps={{ "aria-label": t`Close` }}
    >
      {targets.data && (targets.data.refusal || targets.data.items.length === 0) ? (
        <NoTarget able={!targets.data.refusal} />
      ) : targets.data ? (
        <PushForm environment={environment} version={version} targets={targets.data.items} onDone={onClose} />
      ) : targets.isError ? (
        <ProblemAlert problem={targets.error} onRetry={() => void targets.refetch()} />
      ) : (
        <Skeleton height={220} aria-busy />
      )}
    </FormModal>
  );
}

/** able: the engine of the version can push images, but there is no registry. */
function NoTarget({ able }: { able: boolean }) {
  const { i18n } = useLingui();
  const words = PROBLEMS[able ? "push.no_registry" : "push.engine_cannot"];
  return (
    <Alert color="yellow">
      {[words?.detail, words?.hint].map((sentence) => sentence && i18n._(sentence)).join(" ")}
    </Alert>
  );
}

function PushForm({
  environment,
  version,
  targets,
  onDone,
}: Omit<Props, "opened" | "onClose"> & { targets: PushTarget[]; onDone: () => void }) {
  const { t } = useLingui();
  const push = usePushVersion();
  const form = useProblemForm(
    {
      initialValues: {
        registry: targets[0]?.id ?? "",
        repository: targets[0]?.repository ?? "",
        tag: version.name,
      },
      validate: {
        repository: (name: string) =>
          REPOSITORY.test(name) ? null : t`Lowercase letters and digits, with . _ - or / between them`,
        tag: (name: string) =>
          TAG.test(name) ? null : t`Letters, digits, _ . or -; it begins with a letter, a digit or _`,
      },
    },
    push.error,
  );
  const { registry, repository, tag } = form.values;
  const target = targets.find((one) => one.id === registry);
  const reference = target ? `${target.prefix}/${repository}:${tag}` : "";
  const permitted = target?.repositories.join(", ") ?? "";
  const named = targets.filter(({ name }) => name === target?.name);
  const submit = form.onSubmit(
    (body) =>
      push.mutate({ id: environment.id, version: version.name, ...body }, { onSuccess: () => onDone() }),
    focusFirst(form),
  );
  return (
    <Form
      onSubmit={submit}
      submit={<Trans>Push</Trans>}
      onCancel={onDone}
      busy={push.isPending}
      problem={push.error}
      command={commandLine(
        ...["carrel", "environment", "push", `${environment.id}:${version.name}`],
        ...[
          "--registry",
          (named.length > 1 ? target?.id : target?.name) ?? "",
          "--as",
          `${repository}:${tag}`,
        ],
      )}
    >
      <Select
        label={t`Registry`}
        allowDeselect={false}
        data-autofocus
        data={targets.map((one) => ({ value: one.id, label: `${one.name} (${one.prefix})` }))}
        {...form.getInputProps("registry")}
        onChange={(id) => {
          const chosen = targets.find((one) => one.id === id);
          if (chosen) form.setValues({ registry: chosen.id, repository: chosen.repository });
        }}
      />
      <TextInput
        label={t`Repository`}
        description={t`You may push to: ${permitted}`}
        withAsterisk
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps("repository")}
      />
      <TextInput
        label={t`Tag`}
        withAsterisk
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps("tag")}
      />
      <Text size="sm" style={{ overflowWrap: "anywhere" }}>
        <Trans>
          It becomes <b>{reference}</b>. An image that has this tag there is replaced. Whoever may pull it
          there can read all its files.
        </Trans>
      </Text>
    </Form>
  );
}
