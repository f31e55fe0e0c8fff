import { msg, plural } from "@lingui/core/macro";
import type { AuditEntry } from "@/api/types";
import { PROBLEMS } from "@/sentences/problems";
import { fieldInSentence, valueText } from "./fields";
import { limitsChanged } from "./limits";
import { labelOf, NOUNS } from "./nouns";
import { PEOPLE } from "./people";
import { afterOf, beforeOf, nameOf, type Voice } from "./voice";
import { WORK } from "./work";

const LONGEST_VALUE = 60;
const PROSE: readonly string[] = ["announcement", "description"];
const NAMED_BY_EMAIL: readonly string[] = ["user", "profile"];

/** One sentence about an entry: what was done, or what was attempted. */
export function entryText(entry: AuditEntry, voice: Voice): string {
  const count = summedUp(entry);
  if (count !== undefined) {
    return voice.say(
      msg`${plural(count, { one: "# more refused attempt", other: "# more refused attempts" })}`,
    );
  }
  if (entry.outcome === "refused") return attempted(entry, voice);
  const special = (WORK[entry.action] ?? PEOPLE[entry.action])?.(entry, voice);
  return special ?? settingsChanged(entry, voice) ?? limitsChanged(entry, voice) ?? usual(entry, voice);
}

/** Why an entry was refused: the server's sentence without its code, translated if known; "" if unknown. */
export function refusalText(entry: AuditEntry, voice: Voice): string {
  const { outcome, reason } = entry;
  const { say, locale } = voice;
  if (outcome !== "refused") return "";
  if (summedUp(entry) !== undefined) return mostFrequent(entry, voice);
  const [, code, sentence] = /^([a-z_]+(?:\.[a-z_]+)+): (.*)$/s.exec(reason) ?? [];
  if (code === undefined || sentence === undefined) return reason;
  const known = locale === "en" ? undefined : PROBLEMS[code];
  return known ? say(known.detail) : sentence;
}

/** How many refusals the server only counted and summed up in this entry; undefined for other entries. */
function summedUp({ outcome, reason }: AuditEntry): number | undefined {
  const [, count] = /^audit\.many: (\d+)/.exec(reason) ?? [];
  return outcome === "refused" && count ? Number(count) : undefined;
}

/** The most frequent attempt of a sum, whose action is that of the entry. */
function mostFrequent({ action, object }: AuditEntry, { say }: Voice): string {
  const label = labelOf(action);
  const kind = NOUNS[object.kind];
  const what = label ? say(label) : action;
  const noun = kind && say(kind);
  return noun ? say(msg`Mostly: ${what} (${noun})`) : say(msg`Mostly: ${what}`);
}

function attempted(entry: AuditEntry, { say }: Voice): string {
  const label = labelOf(entry.action);
  const noun = NOUNS[entry.object.kind];
  const [what, name] = [label ? say(label) : entry.action, nameOf(entry)];
  return noun ? say(msg`${what}: ${say(noun)} ${name}`) : what;
}

function settingsChanged(entry: AuditEntry, voice: Voice): string | null {
  if (entry.action !== "site.update") return null;
  const changed = Object.keys(afterOf(entry));
  const listed = changed.map((field) => fieldInSentence(voice, field)).join(", ");
  return oneField(entry, voice) ?? voice.say(msg`Changed settings: ${listed}`);
}

/** A single changed field, unless its values are long. */
function oneField(entry: AuditEntry, voice: Voice): string | null {
  const [before, after] = [beforeOf(entry), afterOf(entry)];
  const [field, ...others] = Object.keys(after);
  if (field === undefined || others.length > 0 || !("before" in entry.details)) return null;
  const title = fieldInSentence(voice, field);
  const [was, now] = [valueText(voice, field, before[field]), valueText(voice, field, after[field])];
  const whole =
    !PROSE.includes(field) && was.length + now.length <= LONGEST_VALUE && !/^[{[]/.test(was + now);
  if (entry.action === "site.update") {
    return whole
      ? voice.say(msg`Changed the setting ${title} from ${was} to ${now}`)
      : voice.say(msg`Changed the setting ${title}`);
  }
  const name = nameOf(entry);
  return whole
    ? voice.say(msg`Changed the ${title} of ${name} from ${was} to ${now}`)
    : voice.say(msg`Changed the ${title} of ${name}`);
}

/** By the verb of the action, the noun of its object, and what changed. */
function usual(entry: AuditEntry, voice: Voice): string {
  const { say } = voice;
  const noun = say(NOUNS[entry.object.kind] ?? msg`object`);
  const name = nameOf(entry);
  switch (verbOf(entry)) {
    case "create":
      return say(msg`Created the ${noun} ${name}`);
    case "remove":
      return say(msg`Removed the ${noun} ${name}`);
    case "update":
      return changed(entry, voice, noun);
    default: {
      const label = labelOf(entry.action);
      const what = label ? say(label) : entry.action;
      return NOUNS[entry.object.kind] && name ? say(msg`${what}: ${noun} ${name}`) : what;
    }
  }
}

/** Some kinds have one action for all changes: what was before and after says which one it was. */
function verbOf({ action, details }: AuditEntry): string {
  const verb = action.split(".")[1] ?? "";
  if (verb !== "update") return verb;
  if (details.removed === true || details.what === "removed") return "remove";
  if (details.what === "created") return "create";
  if (details.after !== undefined && details.before === undefined) return "create";
  if (details.before !== undefined && details.after === undefined) return "remove";
  return verb;
}

function changed(entry: AuditEntry, voice: Voice, noun: string): string {
  const { say } = voice;
  const name = nameOf(entry);
  const [before, after] = [beforeOf(entry), afterOf(entry)];
  const fields = Object.keys(after);
  if (fields.length === 1) {
    if ("name" in before && "name" in after && !NAMED_BY_EMAIL.includes(entry.object.kind)) {
      const [was, now] = [String(before.name), String(after.name)];
      return say(msg`Renamed the ${noun} ${was} to ${now}`);
    }
    if (after.active === true) return say(msg`Activated the ${noun} ${name}`);
    if (after.active === false) return say(msg`Deactivated the ${noun} ${name}`);
    if (after.archived === true) return say(msg`Archived the ${noun} ${name}`);
    if (after.archived === false) return say(msg`Restored the ${noun} ${name}`);
    return oneField(entry, voice) ?? say(msg`Changed the ${noun} ${name}`);
  }
  const listed = fields.map((field) => fieldInSentence(voice, field)).join(", ");
  return listed ? say(msg`Changed the ${noun} ${name}: ${listed}`) : say(msg`Changed the ${noun} ${name}`);
}
