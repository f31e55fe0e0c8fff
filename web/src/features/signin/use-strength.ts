import { useDeferredValue, useEffect, useState } from "react";

type Judge = typeof import("./strength").strengthOf;

let coming: Promise<Judge> | null = null;

/** How hard the password is to guess, from 0 to 4; null until the judge, which is large, has been downloaded. */
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
        // The server judges in any case; the next field asks for the download again.
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
