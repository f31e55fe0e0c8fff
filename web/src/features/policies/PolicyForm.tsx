import { Trans, useLingui } from "@lingui/react/macro";
import { Skeleton, Text, Textarea, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Policy, PolicyCreate, PolicyKind, PolicyUpdate } from "@/api/types";
import { AllowedInput } from "@/features/domains/AllowedInput";
import { policiesOverQuery, policiesShowQuery, useCreatePolicy, useUpdatePolicy } from "@/queries/policies";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { FormDrawer } from "@/ui/form/FormDrawer";
import { focusFirst, useProblemForm } from "@/ui/form/use-problem-form";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { IdleDryRun } from "./IdleDryRun";
import { IdleUseInput } from "./IdleUseInput";
import { LimitInput, RightsInput, SlotsLimitInput } from "./LimitInput";
import { KIND_TEXTS, LIMIT_TEXTS, LIMIT_TITLES } from "./limit-words";
import {
  changedLimits,
  draftOf,
  isAbout,
  isDraftComplete,
  isRights,
  isUse,
  type Limits,
  type LimitsDraft,
  limitsFor,
  limitsIn,
  limitsOf,
  limitWords,
  UNLIMITED,
} from "./limits";
import { OverNotice } from "./OverNotice";

type Values = { name: string; description: string; limits: LimitsDraft };

interface Props {
  opened: boolean;
  /** Id of the policy to edit; absent for a new one. */
  id?: string;
  /** Kind of a new policy. */
  kind: PolicyKind;
  onClose: () => void;
}

/** Creates or edits a resource policy. */
export function PolicyFormDrawer({ opened, id, kind, onClose }: Props) {
  const { t } = useLingui();
  const query = useQuery({ ...policiesShowQuery(id ?? ""), enabled: id !== undefined });
  const titles: Record<PolicyKind, string> = {
    keypair: t`New policy for keypairs`,
    user: t`New policy for users`,
    project: t`New policy for projects`,
  };
  return (
    <FormDrawer
      opened={opened}
      onClose={onClose}
      size="lg"
      title={id ? t`Edit ${query.data?.name ?? t`policy`}` : titles[kind]}
      closeButtonProps={{ "aria-label": t`Close` }}
    >
      {id === undefined ? (
        <PolicyForm key={kind} kind={kind} policy={undefined} onDone={onClose} />
      ) : query.data ? (
        <PolicyForm key={id} kind={query.data.kind} policy={query.data} onDone={onClose} />
      ) : query.isError ? (
        <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <Skeleton height={320} aria-busy />
      )}
    </FormDrawer>
  );
}

interface FormProps {
  kind: PolicyKind;
  policy: Policy | undefined;
  onDone: () => void;
}

function PolicyForm({ kind, policy, onDone }: FormProps) {
  const { t, i18n } = useLingui();
  const create = useCreatePolicy();
  const update = useUpdatePolicy();
  const sent = policy ? update : create;
  const [first] = useState(() => draftOf(kind, policy && limitsFor(policy)));
  const form = useProblemForm<Values>(
    {
      initialValues: { name: policy?.name ?? "", description: policy?.description ?? "", limits: first },
      validate: {
        name: (name) => (name.trim() === "" ? t`Enter a name.` : null),
        limits: (limits) =>
          isDraftComplete(limits) ? null : t`Each row needs a slot name, and each slot can appear only once.`,
      },
    },
    sent.error,
  );
  const { name, description, limits } = form.values;
  const changed = changedLimits(first, limits);
  const edit = {
    ...(name === policy?.name ? {} : { name }),
    ...(description === (policy?.description ?? "") ? {} : { description }),
    ...(Object.keys(changed).length === 0 ? {} : { limits: changed as PolicyUpdate["limits"] }),
  };
  const nothing = policy !== undefined && Object.keys(edit).length === 0;
  const save = form.onSubmit(() => {
    const done = { onSuccess: onDone };
    if (nothing) return onDone();
    if (policy) return update.mutate({ id: policy.id, ...edit }, done);
    create.mutate({ kind, name, description, limits: limitsIn(limits) as PolicyCreate["limits"] }, done);
  }, focusFirst(form));
  const set = (field: string, value: LimitsDraft[keyof LimitsDraft]) =>
    form.setFieldValue("limits", { ...limits, [field]: value });
  return (
    <Form
      onSubmit={save}
      submit={nothing ? <Trans>Nothing changed</Trans> : policy ? <Trans>Save</Trans> : <Trans>Create</Trans>}
      onCancel={onDone}
      busy={sent.isPending}
      problem={sent.error}
      command={
        nothing ? undefined : policyCommand(kind, policy, { ...edit, limits: changed }, limitsIn(limits))
      }
    >
      <Text size="sm" c="dimmed">
        {i18n._(KIND_TEXTS[kind])}
      </Text>
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
      {limitsOf(kind).map(([field, measure]) => {
        const value = limits[field];
        if (measure === "names") {
          return (
            <AllowedInput
              key={field}
              label={i18n._(LIMIT_TITLES[field])}
              description={i18n._(LIMIT_TEXTS[field])}
              value={Array.isArray(value) ? value : null}
              onChange={(names) => set(field, names ?? UNLIMITED)}
            />
          );
        }
        if (measure === "rights") {
          return (
            <RightsInput
              key={field}
              value={value === "root" ? "root" : "plain"}
              onChange={(next) => set(field, next)}
            />
          );
        }
        if (measure === "use") {
          return (
            <IdleUseInput
              key={field}
              value={isUse(value) ? value : UNLIMITED}
              onChange={(next) => set(field, next)}
            />
          );
        }
        if (Array.isArray(value) || isUse(value) || isRights(value)) return null;
        return typeof value === "object" ? (
          <SlotsLimitInput
            key={field}
            name={field}
            value={value}
            error={field === "slots" ? form.errors.limits : undefined}
            onChange={(next) => set(field, next)}
          />
        ) : (
          value !== undefined && (
            <LimitInput
              key={field}
              name={field}
              measure={measure}
              value={value}
              error={form.errors.limits && isAbout(sent.error?.field, field)}
              onChange={(next) => set(field, next)}
            />
          )
        );
      })}
      {kind === "keypair" && (
        <IdleDryRun policy={policy?.id} limits={limitsIn(limits)} isComplete={isDraftComplete(limits)} />
      )}
      {policy && <OverNow id={policy.id} changed={changed} isComplete={isDraftComplete(limits)} />}
    </Form>
  );
}

interface OverProps {
  id: string;
  changed: Limits;
  /** Whether the form is valid so far. */
  isComplete: boolean;
}

const TYPING_MS = 300;

/** The holders that would exceed the limits in the form. */
function OverNow({ id, changed, isComplete }: OverProps) {
  const [debounced] = useDebouncedValue(JSON.stringify(changed), TYPING_MS);
  const query = useQuery({
    ...policiesOverQuery(id, JSON.parse(debounced)),
    enabled: isComplete,
    placeholderData: keepPreviousData,
  });
  return <OverNotice query={query} />;
}

function policyCommand(
  kind: PolicyKind,
  policy: Policy | undefined,
  edit: { name?: string; description?: string; limits: Limits },
  all: Limits,
): string {
  const description = edit.description === undefined ? [] : ["--description", edit.description];
  if (policy) {
    return commandLine(
      "carrel",
      "policy",
      "edit",
      policy.id,
      ...(edit.name === undefined ? [] : ["--name", edit.name]),
      ...description,
      ...limitWords(edit.limits),
    );
  }
  // Unlimited is the default and can be omitted.
  const given = changedLimits(draftOf(kind, undefined), draftOf(kind, all));
  return commandLine(
    "carrel",
    "policy",
    "create",
    edit.name || "students",
    "--kind",
    kind,
    ...description,
    ...limitWords(given),
  );
}
