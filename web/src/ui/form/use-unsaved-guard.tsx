import { Trans, useLingui } from "@lingui/react/macro";
import { useBlocker } from "@tanstack/react-router";
import { askToConfirm } from "./ConfirmDialog";

/** Asks before another page is opened or this one is closed while there are unsaved changes. */
export function useUnsavedGuard(unsaved: boolean): void {
  const { t } = useLingui();
  const stay = () =>
    new Promise<boolean>((resolve) =>
      askToConfirm({
        title: t`Discard unsaved changes?`,
        closeLabel: t`Keep editing`,
        children: <Trans>You have changes that are not saved.</Trans>,
        confirm: t`Discard changes`,
        onConfirm: async () => resolve(false),
        onClose: () => resolve(true),
      }),
    );
  useBlocker({
    disabled: !unsaved,
    enableBeforeUnload: unsaved,
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname && stay(),
  });
}
