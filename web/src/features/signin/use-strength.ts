import { useDeferredValue, useEffect, useState } from "react";

type Judge = typeof import("./strength").strengthOf;

let coming: Promise<Judge> | null = null;

/** Password strength, 0 to 4; null until the estimator, a large chunk, is downloaded. */
export function useStrength(password: string, personal: readonly string[]): number | null {
  const [judge, setJudge] = useState<{ strengthOf: Judge } | null>(null);
  const enabled = password !== "";
  useEffect(() => {
    if (!enabled) return;
    let here = true;
    coming ??= import("./strength").then(({ strengthOf }) => strengthOf);
    coming.then(
      (strengthOf) => here && setJudge({ strengthOf }),
      () => {
        // The server checks in any case; the next field retries the download.
        coming = null;
      },
    );
    return () => {
      here = false;
    };
  }, [enabled]);
  const calm = useDeferredValue(password);
  return judge && enabled ? judge.strengthOf(calm, personal) : null;
}
