import { Trans, useLingui } from "@lingui/react/macro";
import { Select, Skeleton, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { Problem } from "@/api/problem";
import type { Change, Check, Image, SessionCreate } from "@/api/types";
import { useReason } from "@/features/sessions/why/use-reason";
import { foldersChoiceQuery } from "@/queries/folders";
import type { LaunchLink } from "@/routing/launch-link";
import { Form } from "@/ui/form/Form";
import { focusFirst } from "@/ui/form/use-problem-form";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { BatchFields, KindChoice } from "./BatchFields";
import { ClusterFields } from "./ClusterFields";
import { createCommand } from "./command";
import { EnvironmentRows } from "./EnvironmentRows";
import { GroupChoice } from "./GroupChoice";
import { ImagePicker } from "./ImagePicker";
import { MoreFields } from "./MoreFields";
import { MountRows } from "./MountRows";
import { PresetChoice } from "./PresetChoice";
import { isComplete, type LaunchForm, toCheck, toRequest } from "./request";
import { SlotFields } from "./SlotFields";
import { SaveTemplateButton, TemplateChoice } from "./TemplateChoice";
import { useCheck } from "./use-check";
import { useLaunchForm } from "./use-launch-form";
import { useLink } from "./use-link";
import { useLostChoices } from "./use-lost-choices";
import { VerdictLine } from "./VerdictLine";

interface Props {
  /** What the variables are kept under. */
  from: string;
  initial: LaunchForm;
  link: LaunchLink | undefined;
  /** Keeps the form in the address; absent while the drawer closes. */
  onLink: ((link: LaunchLink | undefined) => void) | undefined;
  images: Image[];
  /** Offer templates to begin from. */
  templates: boolean;
  /** The names of the user's projects. */
  projects: string[];
  problem: Problem | null;
  busy: boolean;
  onSubmit: (request: SessionCreate) => void;
  /** Saves the request as a template. */
  onSave: (request: SessionCreate) => void;
  onCancel: () => void;
}

export function LauncherForm(given: Props) {
  // What the form began with, whatever the limits are meanwhile.
  const [initial] = useState(given.initial);
  const props = { ...given, initial };
  const { images, projects, problem, busy, onSubmit, onCancel } = props;
  const { t } = useLingui();
  const reason = useReason();
  const { form, shortOf, fault } = useLaunchForm(props, images, problem);
  useLink(form.values, props);
  const only = projects.length < 2;
  const values = only ? { ...form.values, project: "" } : form.values;
  const request = toRequest(values);
  const { data: check, error, refetch, settled } = useCheck(toCheck(values));
  const lost = useLostChoices(error, form, initial.project || (projects[0] ?? ""));
  const folders = useQuery(foldersChoiceQuery).data ?? [];
  const nameField = useRef<HTMLInputElement>(null);
  // On a touch screen, focus would open the keyboard over the form.
  const [typesAtOnce] = useState(() => matchMedia("(pointer: fine)").matches);
  useEffect(() => {
    if (typesAtOnce) nameField.current?.focus();
  }, [typesAtOnce]);

  const submit = form.onSubmit(() => onSubmit(request), focusFirst(form));
  const verdict = fault ? "never" : settled ? check?.verdict : undefined;
  const refusal =
    fault ?? (check && verdict === "never" ? t`Cannot start: ${reason(check.reason, check.code)}` : null);
  const errorOf = (slot: string) =>
    shortOf(slot) ?? (!fault && verdict === "never" && check ? slotFault(check, slot, reason) : undefined);
  const apply = (change: Change) => {
    if (change.kind === "group" && change.group) form.setFieldValue("group", change.group.name);
    if (change.kind === "any_node") form.setFieldValue("node", "");
    if (change.kind === "smaller") form.setFieldValue("slots", { ...change.slots });
  };
  const setSlots = (slots: Record<string, number>) => form.setFieldValue("slots", slots);
  const folderName = (id: string) => folders.find((one) => one.id === id)?.name ?? id;

  return (
    <Form
      onSubmit={submit}
      submit={verdict === "waits" ? <Trans>Add to queue</Trans> : <Trans>Start</Trans>}
      onCancel={onCancel}
      busy={busy}
      problem={problem}
      command={isComplete(values) ? createCommand(request, folderName) : undefined}
      refusal={refusal}
      notice={
        error ? (
          <ProblemAlert problem={error} onRetry={() => void refetch()} />
        ) : (
          check && <VerdictLine check={check} fault={fault} settled={settled} onApply={apply} />
        )
      }
    >
      {props.templates && <TemplateChoice />}
      <KindChoice values={form.values} onChange={form.setValues} />
      {!only && (
        <Select
          label={t`Project`}
          data={projects}
          allowDeselect={false}
          comboboxProps={{ shadow: "md" }}
          {...form.getInputProps("project")}
        />
      )}
      {check && (
        <GroupChoice
          groups={check.groups}
          value={form.values.group || check.group.name}
          verdict={verdict}
          lost={lost}
          onChange={(group) => form.setFieldValue("group", group)}
        />
      )}
      <ImagePicker images={images} {...form.getInputProps("image")} />
      <TextInput
        label={t`Name`}
        description={t`Optional. If empty, a name is generated.`}
        autoComplete="off"
        spellCheck={false}
        ref={nameField}
        // The drawer focuses its first field shortly after it opens; without this, it would focus its close
        // button.
        data-autofocus={typesAtOnce || undefined}
        {...form.getInputProps("name")}
      />
      {values.kind === "batch" && (
        <BatchFields values={form.values} errors={form.errors} onChange={form.setValues} />
      )}
      {!check && !error && <Skeleton height={150} aria-busy />}
      {check && (
        <>
          <PresetChoice check={check} verdict={verdict} slots={form.values.slots} onChange={setSlots} />
          <SlotFields
            slots={form.values.slots}
            check={check}
            verdict={verdict}
            errorOf={errorOf}
            onChange={setSlots}
          />
        </>
      )}
      <ClusterFields values={form.values} errors={form.errors} onChange={form.setValues} />
      <MountRows
        rows={form.values.mounts}
        folders={folders}
        error={form.errors.mounts}
        onChange={(mounts) => form.setFieldValue("mounts", mounts)}
      />
      <EnvironmentRows
        rows={form.values.env}
        error={form.errors.env}
        onChange={(env) => form.setFieldValue("env", env)}
      />
      <MoreFields
        values={form.values}
        group={check?.group.id ?? "default"}
        mayHaveRoot={check?.most_rights === "root"}
        disk={check?.disk}
        errors={form.errors}
        onChange={form.setValues}
      />
      {isComplete({ ...values, roles: [] }) && <SaveTemplateButton onClick={() => props.onSave(request)} />}
    </Form>
  );
}

/** The server's error about the amount of this slot, if any. */
function slotFault(check: Check, slot: string, reason: (sentence: string, code?: string) => string) {
  const mine = check.field === `slots.${slot}` || check.limits.some((limit) => limit.slot === slot);
  return mine ? reason(check.reason, check.code) : undefined;
}
