interface Watcher {
  onReachable: () => void;
  onUnreachable: () => void;
  onShown: () => void;
  onHidden: () => void;
}

const HIDDEN_MS = 3_000;

/**
 * Watches the network state and page visibility; returns a function that stops it.
 *
 * HTTP/1.1 browsers allow six connections per server, over all tabs. A hidden tab must close its stream, or
 * the seventh tab would hang.
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
