import { Suspense, useSyncExternalStore } from "react";
import { proofDesk } from "@/api/proof";
import { part } from "@/routing/part";

const ProofDialog = part(() => import("./ProofDialog").then((it) => it.ProofDialog));

/** Renders the identity confirmation dialog when any request needs it. */
export function ProofDesk() {
  const asking = useSyncExternalStore(proofDesk.subscribe, proofDesk.isAsking);
  return asking ? (
    <Suspense>
      <ProofDialog />
    </Suspense>
  ) : null;
}
