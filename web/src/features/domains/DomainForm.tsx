import { Trans, useLingui } from "@lingui/react/macro";
import { Skeleton, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Domain, DomainCreate, Slots } from "@/api/types";
import { CeilingsInput } from "@/features/projects/CeilingsInput";
import { CeilingsOver } from "@/features/projects/CeilingsOver";
import { ceilingRows, ceilingsOf, ceilingWords } from "@/features/projects/ceilings";
import { domainsShowQuery, useCreateDomain, useUpdateDomain } from "@/queries/domains";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { FormDrawer } from "@/ui/form/FormDrawer";
import type { SlotLimit } from "@/ui/form/SlotLimitsInput";
import { focusFirst, useProblemForm } from "@/ui/form/use-problem-form";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { AllowedInput } from "./AllowedInput";

const ALLOWED = ["resource_groups", "registries", "storage_hosts"] as const;

const OPTIONS = {
  resource_groups: "--resource-group",
  registries: "--registry",
  storage_hosts: "--storage-host",
} as const;

type Values = {
  name: string;
  description: string;
  ceilings: SlotLimit[];
  resource_groups: string[] | null;
  registries: string[] | null;
  storage_hosts: string[] | null;
};

interface Props {
  opened: boolean;
  /** Id of the domain to edit; absent for a new one. */
  id?: string;
  onClose: () => void;
}

/** Creates or edits a domain. */
export function DomainFormDrawer({ opened, id, onClose }: Props) {
  const { t } = useLingui();
  const query = useQuery({ ...domainsShowQuery(id ?? ""), enabled: id !== undefined });
  return (
    <FormDrawer
      opened={opened}
      onClose={onClose}
      size="lg"
      title={id ? t`Edit ${query.data?.name ?? t`domain`}` : t`New domain`}
      closeButtonProps={{ "aria-label": t`Close` }}
    >
      {id === undefined ? (
        <DomainForm domain={undefined} onDone={onClose} />
      ) : query.data ? (
        <DomainForm key={id} domain={query.data} onDone={onClose} />
      ) : query.isError ? (
        <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <Skeleton height={240} aria-busy />
      )}
    </FormDrawer>
  );
}

function DomainForm({ domain, onDone }: { domain: Domain | undefined; onDone: () => void }) {
  const { t } = useLingui();
  const create = useCreateDomain();
  const update = useUpdateDomain();
  const sent = domain ? update : create;
  const form = useProblemForm<Values>(
    {
      initialValues: {
        name: domain?.name ?? "",
        description: domain?.description ?? "",
        ceilings: ceilingRows(domain?.ceilings ?? {}),
        resource_groups: domain?.resource_groups ?? null,
        registries: domain?.registries ?? null,
        storage_hosts: domain?.storage_hosts ?? null,
      },
      validate: {
        name: (name) => (name.trim() === "" ? t`Enter a name.` : null),
        ceilings: (rows) =>
          rows.some(({ slot }) => slot === "") ? t`Enter a slot name, or remove the row.` : null,
      },
    },
    sent.error,
  );
  const ceilings = ceilingsOf(form.values.ceilings);
  const request: DomainCreate = { ...form.values, ceilings };
  const changed = domain ? changedOf(domain, request) : request;
  const save = form.onSubmit(() => {
    const done = { onSuccess: onDone };
    if (domain) update.mutate({ id: domain.id, ...changed }, done);
    else create.mutate(request, done);
  }, focusFirst(form));
  const names = {
    resource_groups: t`Resource groups`,
    registries: t`Registries`,
    storage_hosts: t`Storage hosts`,
  };
  return (
    <Form
      onSubmit={save}
      submit={domain ? <Trans>Save</Trans> : <Trans>Create</Trans>}
      onCancel={onDone}
      busy={sent.isPending}
      problem={sent.error}
      command={domainCommand(domain, request, ceilings)}
    >
      <TextInput
        label={t`Name`}
        withAsterisk
        maxLength={64}
        autoComplete="off"
        data-autofocus
        {...form.getInputProps("name")}
      />
      <Textarea
        label={t`Description`}
        autosize
        minRows={2}
        maxLength={500}
        {...form.getInputProps("description")}
      />
      <CeilingsInput
        rows={form.values.ceilings}
        error={form.errors.ceilings}
        onChange={(rows) => form.setFieldValue("ceilings", rows)}
      />
      {domain && (
        <CeilingsOver
          scope="domain"
          id={domain.id}
          ceilings={ceilings}
          isComplete={form.values.ceilings.every(({ slot }) => slot !== "")}
        />
      )}
      {ALLOWED.map((kind) => (
        <AllowedInput
          key={kind}
          label={names[kind]}
          value={form.values[kind]}
          error={form.errors[kind]}
          onChange={(value) => form.setFieldValue(kind, value)}
        />
      ))}
    </Form>
  );
}

/** The fields of the request that differ from the domain. */
function changedOf(domain: Domain, request: DomainCreate): Partial<DomainCreate> {
  return Object.fromEntries(
    (["name", "description", "ceilings", ...ALLOWED] as const)
      .filter((key) => JSON.stringify(domain[key]) !== JSON.stringify(request[key]))
      .map((key) => [key, request[key]]),
  );
}

function domainCommand(domain: Domain | undefined, request: DomainCreate, ceilings: Slots): string {
  const words = domain ? ["update", domain.name, "--name"] : ["create"];
  const allowed = ALLOWED.flatMap((kind) => {
    const names = request[kind];
    if (names) return names.flatMap((name) => [OPTIONS[kind], name]);
    return domain?.[kind] ? ["--all", kind] : [];
  });
  return commandLine(
    "carrel",
    "domain",
    ...words,
    request.name || "physics",
    ...(request.description ? ["--description", request.description] : []),
    ...ceilingWords(ceilings),
    ...(domain && Object.keys(ceilings).length === 0 ? ["--no-ceilings"] : []),
    ...allowed,
  );
}
