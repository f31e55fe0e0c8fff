import { useLingui } from "@lingui/react/macro";
import { formatInstant } from "./format";

/** A date and time in the user's locale. */
export function Instant({ at }: { at: string | Date }) {
  const { i18n } = useLingui();
  const text = formatInstant(at, i18n.locale);
  return (
    <time dateTime={new Date(at).toISOString()} title={text}>
      {text}
    </time>
  );
}
