const OVERLAYS = "[aria-modal='true'], [role='menu'], [role='listbox']";

/** An open dialog, menu or list of options handles its own keys. Closed lists stay in the page, hidden. */
export const overlayIsOpen = (): boolean =>
  [...document.querySelectorAll(OVERLAYS)].some((overlay) => overlay.getClientRects().length > 0);

const FIELDS = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable='true']";

/** Whether keys enter text there. */
export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest(FIELDS) !== null;
