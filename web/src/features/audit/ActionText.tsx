import { useActionText } from "./use-action-text";

/** An action as a sentence, with its name for programs. */
export function ActionText({ action }: { action: string }) {
  const text = useActionText()(action);
  return <span title={`${action}: ${text}`}>{text}</span>;
}
