import { useLingui } from "@lingui/react/macro";
import type { SessionKind } from "@/api/types";
import { SESSION_KINDS } from "@/features/resources/group-words";

/** The kind of a session in words. */
export function SessionKindName({ kind }: { kind: SessionKind }) {
  const { i18n } = useLingui();
  const words = SESSION_KINDS[kind];
  return words ? i18n._(words) : kind;
}
