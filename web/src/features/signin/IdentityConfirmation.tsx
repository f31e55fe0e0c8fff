import { Suspense, useSyncExternalStore } from "react";
import { identityConfirmation } from "@/api/proof";
import { part } from "@/routing/part";

const ProofDialog = part(() => import("./ProofDialog").then((it) => it.ProofDialog));

/** Renders the identity confirmation dialog when any request needs it. */
export function IdentityConfirmation() {
  const asking = useSyncExternalStore(identityConfirmation.subscribe, identityConfirmation.isAsking);
  return asking ? (
    <Suspense>
      <ProofDialog />
    </Suspense>
  ) : null;
}
