interface Watcher {
  onReachable: () => void;
  onUnreachable: () => void;
  onShown: () => void;
  onHidden: () => void;
}

const HIDDEN_MS = 3_000;

/**
 * Tells when the network comes and goes, and when the page is shown and hidden; returns how to stop.
 *
 * A browser allows six connections to one server, over all tabs. A tab that nobody looks at must not hold one, or the
 * seventh tab would hang.
 */
export function watchLine({ onReachable, onUnreachable, onShown, onHidden }: Watcher): () => void {
  let hiding: ReturnType<typeof setTimeout> | undefined;
  const onVisibility = () => {
    clearTimeout(hiding);
    if (document.visibilityState === "visible") onShown();
    else hiding = setTimeout(onHidden, HIDDEN_MS);
  };
  if (document.visibilityState === "hidden") onHidden();
  addEventListener("online", onReachable);
  addEventListener("offline", onUnreachable);
  document.addEventListener("visibilitychange", onVisibility);
  return () => {
    clearTimeout(hiding);
    removeEventListener("online", onReachable);
    removeEventListener("offline", onUnreachable);
    document.removeEventListener("visibilitychange", onVisibility);
  };
}
