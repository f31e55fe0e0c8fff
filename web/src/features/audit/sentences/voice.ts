import type { MessageDescriptor } from "@lingui/core";
import type { AuditEntry } from "@/api/types";

/** How a sentence is written: translated, with amounts in the locale. */
export interface Voice {
  say: (message: MessageDescriptor) => string;
  locale: string;
}

export type Details = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Details =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const beforeOf = ({ details }: AuditEntry): Details =>
  isObject(details.before) ? details.before : {};
export const afterOf = ({ details }: AuditEntry): Details => (isObject(details.after) ? details.after : {});

/** The object's name, or its id if it has none. */
export const nameOf = ({ object }: AuditEntry): string => object.name || object.id;

/** A sentence about an action that was done; null if the details have nothing special. */
export type Sentence = (entry: AuditEntry, voice: Voice) => string | null;
