import { Trans, useLingui } from "@lingui/react/macro";
import { Select, Skeleton, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { PolicyKind } from "@/api/types";
import { policiesChoiceQuery, useAssignPolicy } from "@/queries/policies";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { useUnsavedInput } from "@/ui/form/unsaved-input";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { KIND_TEXTS } from "./limit-words";
import { limitsFor } from "./limits";
import { useLimitsText } from "./use-limits-text";

/** The holder of a policy: a keypair by its access key, others by id. */
export interface Holder {
  kind: "keypairs" | "sign_ins" | "users" | "projects";
  id: string;
  /** Access key, e-mail or name: for the command line and for display. */
  label: string;
}

/** The policy kind of each holder type. */
const KINDS: Record<Holder["kind"], PolicyKind> = {
  keypairs: "keypair",
  sign_ins: "keypair",
  users: "user",
  projects: "project",
};
const OPTIONS: Record<Holder["kind"], string> = {
  keypairs: "--keypair",
  sign_ins: "--sign-in",
  users: "--user",
  projects: "--project",
};

interface Props {
  /** Id of the current policy. */
  policy: string;
  holder: Holder;
  onDone: () => void;
}

/** Assigns another policy to a holder. */
export function AssignForm({ policy, holder, onDone }: Props) {
  const { t, i18n } = useLingui();
  const kind = KINDS[holder.kind];
  const offered = useQuery(policiesChoiceQuery(kind));
  const [chosen, setChosen] = useState(policy);
  const assign = useAssignPolicy();
  const { short } = useLimitsText();
  useUnsavedInput(() => chosen !== policy && !assign.isSuccess);
  if (offered.isPending) return <Skeleton height={160} aria-busy />;
  if (offered.isError) {
    return <ProblemAlert problem={offered.error} onRetry={() => void offered.refetch()} />;
  }
  const one = offered.data.find(({ id }) => id === chosen);
  return (
    <Form
      onSubmit={(event) => {
        event?.preventDefault();
        assign.mutate({ id: chosen, [holder.kind]: [holder.id] }, { onSuccess: onDone });
      }}
      submit={<Trans>Assign</Trans>}
      onCancel={onDone}
      blocked={chosen === policy}
      busy={assign.isPending}
      problem={assign.error}
      command={commandLine(
        "carrel",
        "policy",
        "assign",
        one?.name ?? chosen,
        OPTIONS[holder.kind],
        // Project names are unique only within a domain.
        holder.kind === "projects" ? holder.id : holder.label,
      )}
    >
      <Select
        label={t`Policy`}
        description={i18n._(KIND_TEXTS[kind])}
        data-autofocus
        allowDeselect={false}
        searchable
        data={offered.data.map(({ id, name }) => ({ value: id, label: name }))}
        value={chosen}
        onChange={(id) => id && setChosen(id)}
      />
      {one && <Text size="sm">{short(kind, limitsFor(one))}</Text>}
      <Text size="xs" c="dimmed">
        <Trans>Takes effect at the next scheduling decision. Running sessions are not affected.</Trans>
      </Text>
    </Form>
  );
}
