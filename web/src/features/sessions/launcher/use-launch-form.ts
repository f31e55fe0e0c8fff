import { useLingui } from "@lingui/react/macro";
import { useEffect } from "react";
import type { Problem } from "@/api/problem";
import type { Image } from "@/api/types";
import type { LaunchLink } from "@/routing/launch-link";
import { useProblemForm } from "@/ui/form/use-problem-form";
import { inSlotOrder, slotText } from "@/ui/slots";
import { readArray } from "./array";
import { afterFault } from "./dependencies";
import { fromLink, withKeptVariables } from "./link";
import { mountFault } from "./mounts";
import { isName, type LaunchForm } from "./request";
import { roleFault } from "./roles";
import { useChosenImage } from "./use-chosen-image";
import { hasVariableFault } from "./variables";

const LEAST = { cpu: 100, mem: 2 ** 22 };
const LEAST_TIME_S = 60;

interface Start {
  from: string;
  initial: LaunchForm;
  link: LaunchLink | undefined;
}

/** The launcher's form with client-side validation; the server checks the amounts against capacity. */
export function useLaunchForm({ from, initial, link }: Start, images: Image[], problem: Problem | null) {
  const { t } = useLingui();
  const form = useProblemForm<LaunchForm>(
    {
      initialValues: withKeptVariables(from, fromLink(link, initial)),
      validateInputOnBlur: ["name"],
      validate: {
        image: (value) => (value.trim() === "" ? t`Choose an image, or enter an image reference.` : null),
        name: (value) =>
          value === "" || isName(value) ? null : t`4 to 64 letters, digits or _; between them also . and -`,
        script: (value, { kind }) =>
          kind === "batch" && value.trim() === "" ? t`Enter the command to run.` : null,
        array: (value, { kind }) =>
          kind === "batch" && value.trim() !== "" && !readArray(value)
            ? t`Enter a range such as 1-100, or 1-100%8; at most 10,000 sessions.`
            : null,
        roles: (roles) => {
          if (roles.some((_, at) => roleFault(roles, at)))
            return t`Each role needs a different name of 1 to 20 letters a-z and -.`;
          return roles.some(({ variables = [] }) => hasVariableFault(variables))
            ? t`Correct the names above.`
            : null;
        },
        retries: (value) => (value >= 0 && value <= 100 ? null : t`0 to 100`),
        priority: (value) => (value === null || (value >= 0 && value <= 100) ? null : t`0 to 100`),
        time_limit_s: (seconds) =>
          seconds === null || seconds >= LEAST_TIME_S ? null : t`Enter at least 1 minute.`,
        mounts: (rows) => (rows.some((_, at) => mountFault(rows, at)) ? t`Correct the folders above.` : null),
        after: (rows) =>
          rows.some((_, at) => afterFault(rows, at)) ? t`Select a different session in each row.` : null,
        env: (rows) => (hasVariableFault(rows) ? t`Correct the names above.` : null),
      },
    },
    problem,
  );
  const { resetDirty } = form;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what the form began with
  useEffect(() => resetDirty(initial), []);
  const { image, slots } = form.values;
  const least = useChosenImage(image, images)?.min_slots ?? LEAST;
  const needs: Record<string, number> = { ...least };

  /** The error of a slot's amount that needs no request. */
  const shortOf = (slot: string): string | null => {
    const needed = needs[slot] ?? 0;
    return (slots[slot] ?? 0) < needed ? t`This image needs at least ${slotText(slot, needed)}.` : null;
  };
  const short = inSlotOrder(Object.keys(needs)).find((slot) => shortOf(slot));
  return { form, shortOf, fault: short ? shortOf(short) : null };
}
