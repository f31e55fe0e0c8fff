import { msg } from "@lingui/core/macro";
import type { AuditEntry } from "@/api/types";
import { inSlotOrder, slotAmount, slotTitle } from "@/ui/slots";
import { fieldInSentence, inSentence, valueText } from "./fields";
import { afterOf, beforeOf, isObject, nameOf, type Voice } from "./voice";

interface LimitChange {
  title: string;
  before: string;
  after: string;
  /** undefined: not limited, or no amount. */
  was: number | undefined;
  now: number | undefined;
}

const amountOf = (most: unknown): number | undefined => (typeof most === "number" ? most : undefined);

/** What happened to the limits of a policy, project or domain. */
export function limitsChanged(entry: AuditEntry, voice: Voice): string | null {
  if (!entry.action.endsWith(".update")) return null;
  const before = beforeOf(entry);
  const after = afterOf(entry);
  const changes =
    isObject(before.limits) && isObject(after.limits)
      ? policyChanges(voice, before.limits, after.limits)
      : slotChanges(voice, before.ceilings, after.ceilings);
  const [only] = changes;
  if (!only) return null;
  if (changes.length > 1) {
    const listed = changes.map((one) => `${one.title} ${one.before} → ${one.after}`).join(", ");
    const name = nameOf(entry);
    return voice.say(msg`Changed limits of ${name}: ${listed}`);
  }
  return oneChanged(voice, nameOf(entry), only);
}

function oneChanged({ say }: Voice, name: string, { title, before, after, was, now }: LimitChange): string {
  if (was !== undefined && now !== undefined) {
    return now > was
      ? say(msg`Raised the ${title} limit of ${name} from ${before} to ${after}`)
      : say(msg`Lowered the ${title} limit of ${name} from ${before} to ${after}`);
  }
  if (now !== undefined) return say(msg`Set the ${title} limit of ${name} to ${after}`);
  if (was !== undefined) return say(msg`Removed the ${title} limit of ${name} (it was ${before})`);
  return say(msg`Changed the ${title} limit of ${name} from ${before} to ${after}`);
}

function policyChanges(
  voice: Voice,
  before: Record<string, unknown>,
  after: Record<string, unknown>,
): LimitChange[] {
  return Object.keys(after).flatMap((field) => {
    const [was, now] = [before[field], after[field]];
    if (JSON.stringify(was) === JSON.stringify(now)) return [];
    if (field === "slots") return slotChanges(voice, was, now);
    return [
      {
        title: fieldInSentence(voice, field),
        before: valueText(voice, field, was),
        after: valueText(voice, field, now),
        was: amountOf(was),
        now: amountOf(now),
      },
    ];
  });
}

function slotChanges(voice: Voice, before: unknown, after: unknown): LimitChange[] {
  const [was, now] = [isObject(before) ? before : {}, isObject(after) ? after : {}];
  const text = (slot: string, most: unknown) =>
    typeof most === "number" ? slotAmount(slot, most) : voice.say(msg`unlimited`);
  return inSlotOrder(new Set([...Object.keys(was), ...Object.keys(now)]))
    .filter((slot) => was[slot] !== now[slot])
    .map((slot) => ({
      title: inSentence(slotTitle(voice.say, slot)),
      before: text(slot, was[slot]),
      after: text(slot, now[slot]),
      was: amountOf(was[slot]),
      now: amountOf(now[slot]),
    }));
}
