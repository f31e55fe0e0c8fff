import { useLingui } from "@lingui/react/macro";
import { useLocation } from "@tanstack/react-router";
import { type ReactNode, useEffect, useSyncExternalStore } from "react";
import { useLast } from "@/ui/use-last";
import { FormModal } from "./FormDrawer";

interface Dialog {
  title: string;
  /** The form; `close` closes the dialog without a question. */
  form: (close: () => void) => ReactNode;
}

let opened: Dialog | undefined;
const listeners = new Set<() => void>();

function set(next: Dialog | undefined): void {
  opened = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

const close = () => set(undefined);

/** Opens a form in a dialog, from anywhere. Asks before its unsaved input is lost. */
export const openFormDialog = (dialog: Dialog): void => set(dialog);

/** The place of `openFormDialog`: once, in the frame of the page. */
export function FormDialog() {
  const { t } = useLingui();
  const dialog = useSyncExternalStore(subscribe, () => opened);
  const shown = useLast(dialog);
  const { href } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: navigation closes the dialog
  useEffect(close, [href]);
  return (
    <FormModal
      opened={dialog !== undefined}
      onClose={close}
      title={shown?.title}
      closeButtonProps={{ "aria-label": t`Close` }}
    >
      {shown?.form(close)}
    </FormModal>
  );
}
