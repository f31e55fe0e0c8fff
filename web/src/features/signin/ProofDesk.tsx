import { Suspense, useSyncExternalStore } from "react";
import { proofDesk } from "@/api/proof";
import { part } from "@/routing/part";

const ProofDialog = part(() => import("./ProofDialog").then((it) => it.ProofDialog));

/** The place of the dialog that asks once more who this is, wherever on the page it is needed. */
export function ProofDesk() {
  const asking = useSyncExternalStore(proofDesk.subscribe, proofDesk.isAsking);
  return asking ? (
    <Suspense>
      <ProofDialog />
    </Suspense>
  ) : null;
}
