import { Trans, useLingui } from "@lingui/react/macro";
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Problem } from "@/api/problem";
import type { Change, Check, Image, SessionCreate } from "@/api/types";
import { useReason } from "@/features/sessions/why/use-reason";
import { foldersChoiceQuery } from "@/queries/folders";
import type { LaunchLink } from "@/routing/launch-link";
import { Form } from "@/ui/form/Form";
import { focusFirst } from "@/ui/form/use-problem-form";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { createCommand } from "./command";
import { LauncherFields } from "./LauncherFields";
import { RecurringButton } from "./RecurringButton";
import { Review } from "./Review";
import { isComplete, type LaunchForm, named, toCheck, toRequest } from "./request";
import { SaveRequestButton, TemplateChoice } from "./TemplateChoice";
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

/** The launcher's form, and a review of it as a second step. */
export function LauncherForm(given: Props) {
  // What the form began with, whatever the limits are meanwhile.
  const [initial] = useState(given.initial);
  const props = { ...given, initial };
  const { images, projects, problem, busy, onSubmit, onCancel } = props;
  const { t } = useLingui();
  const reason = useReason();
  const [reviewing, setReviewing] = useState(false);
  const { form, shortOf, fault } = useLaunchForm(props, images, problem);
  useLink(form.values, props);
  const values = projects.length < 2 ? { ...form.values, project: "" } : form.values;
  const request = toRequest(values);
  const { data: check, error, refetch, settled } = useCheck(toCheck(values));
  const lost = useLostChoices(error, form, initial.project || (projects[0] ?? ""));
  const folders = useQuery(foldersChoiceQuery).data ?? [];

  const back = () => setReviewing(false);
  const refused = (errors: Parameters<ReturnType<typeof focusFirst>>[0]) => {
    back();
    focusFirst(form)(errors);
  };
  const submit = form.onSubmit(() => onSubmit(request), refused);
  const verdict = fault ? "never" : settled ? check?.verdict : undefined;
  const refusal =
    fault ?? (check && verdict === "never" ? t`Cannot start: ${reason(check.reason, check.code)}` : null);
  const errorOf = (slot: string) =>
    shortOf(slot) ?? (!fault && verdict === "never" && check ? slotFault(check, slot, reason) : undefined);
  const apply = (change: Change) => {
    if (change.kind === "group" && change.group)
      form.setValues({ group: change.group.name, alternative_groups: [] });
    if (change.kind === "any_node") form.setFieldValue("node", "");
    if (change.kind === "smaller") form.setFieldValue("slots", { ...change.slots });
  };
  const folderName = (id: string) => folders.find((one) => one.id === id)?.name ?? id;
  const review = () => {
    const { errors, hasErrors } = form.validate();
    if (hasErrors) focusFirst(form)(errors);
    else setReviewing(true);
  };

  return (
    <Form
      onSubmit={submit}
      submit={verdict === "waits" ? <Trans>Add to queue</Trans> : <Trans>Start</Trans>}
      onCancel={reviewing ? undefined : onCancel}
      extra={
        reviewing ? (
          <>
            <Button variant="default" onClick={back}>
              <Trans>Back</Trans>
            </Button>
            <RecurringButton
              request={named(request, folderName)}
              send={(act) => form.onSubmit(() => act(), refused)()}
              onLeave={onCancel}
            />
          </>
        ) : (
          <Button variant="default" onClick={review}>
            <Trans>Review</Trans>
          </Button>
        )
      }
      busy={busy}
      problem={problem}
      command={
        !reviewing && isComplete(values) && values.roles.length === 0
          ? createCommand(request, folderName)
          : undefined
      }
      refusal={refusal}
      notice={
        error ? (
          <ProblemAlert problem={error} onRetry={() => void refetch()} />
        ) : (
          check && <VerdictLine check={check} fault={fault} settled={settled} onApply={apply} />
        )
      }
    >
      {reviewing ? (
        <Review
          request={named(request, folderName)}
          nameOf={(id) => values.after.find((one) => one.session === id)?.name ?? id}
          check={check}
        />
      ) : (
        <>
          {props.templates && <TemplateChoice />}
          <LauncherFields
            form={form}
            images={images}
            projects={projects}
            folders={folders}
            check={check}
            verdict={verdict}
            failed={!!error}
            lost={lost}
            errorOf={errorOf}
          />
        </>
      )}
      {isComplete({ ...values, roles: [] }) && <SaveRequestButton onClick={() => props.onSave(request)} />}
    </Form>
  );
}

/** The server's error about the amount of this slot, if any. */
function slotFault(check: Check, slot: string, reason: (sentence: string, code?: string) => string) {
  const mine = check.field === `slots.${slot}` || check.limits.some((limit) => limit.slot === slot);
  return mine ? reason(check.reason, check.code) : undefined;
}
