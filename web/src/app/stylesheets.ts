const PAUSE_MS = 2000;

/** Downloads a stylesheet again when that failed: the script that needs it asks for it only once. */
export function retryStylesheets(): void {
  addEventListener(
    "error",
    ({ target }) => {
      if (target instanceof HTMLLinkElement && target.rel === "stylesheet") {
        setTimeout(() => target.replaceWith(target.cloneNode()), PAUSE_MS);
      }
    },
    // These events do not bubble.
    { capture: true },
  );
}
