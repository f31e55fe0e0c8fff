import { useActionText } from "./use-action-text";

/** The description of an action, with its code. */
export function ActionText({ action }: { action: string }) {
  const text = useActionText()(action);
  return <span title={`${action}: ${text}`}>{text}</span>;
}
