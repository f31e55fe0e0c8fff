import { Trans, useLingui } from "@lingui/react/macro";
import { useBlocker } from "@tanstack/react-router";
import { showsAnother, staysOpen } from "@/routing/items";
import { askToConfirm } from "./ConfirmDialog";

interface Guard {
  unsaved: () => boolean;
  /** Also ask before the browser's back button closes a drawer of the same page. */
  onBack?: boolean;
  /** Also ask before the same page shows another item or tab in its drawer, or another directory. */
  onSwitch?: boolean;
  /** Do not ask before the page is reloaded, because the form is restored then. */
  restored?: boolean;
}

/**
 * Asks before another page is opened or this one is closed while there are unsaved changes.
 *
 * Returns: asks if there are any; true if they may be discarded.
 */
export function useUnsavedGuard({ unsaved, onBack, onSwitch, restored }: Guard): () => Promise<boolean> {
  const { t } = useLingui();
  const mayDiscard = () =>
    new Promise<boolean>((resolve) => {
      if (!unsaved()) return resolve(true);
      askToConfirm({
        title: t`Discard unsaved changes?`,
        closeLabel: t`Keep editing`,
        children: <Trans>You have changes that are not saved.</Trans>,
        confirm: t`Discard changes`,
        onConfirm: async () => resolve(true),
        onClose: () => resolve(false),
      });
    });
  useBlocker({
    enableBeforeUnload: () => !restored && unsaved(),
    shouldBlockFn: async ({ current, next, action }) =>
      (current.pathname !== next.pathname ||
        (!!onBack && action !== "PUSH" && action !== "REPLACE") ||
        (!!onSwitch && isSwitched({ ...current.search }, { ...next.search }))) &&
      !(await mayDiscard()),
  });
  return mayDiscard;
}

type Search = Readonly<Record<string, unknown>>;

function isSwitched(before: Search, after: Search): boolean {
  return (
    showsAnother(before, after) ||
    before.path !== after.path ||
    (before.tab !== after.tab && staysOpen(before, after))
  );
}
