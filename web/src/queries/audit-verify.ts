import { auditVerify } from "@/api/generated/sdk.gen";
import type { AuditCheck } from "@/api/types";

/** Looks through the whole chain, part by part; `onPart` hears of each, with how many entries are done so far. */
export async function verifyChain(
  onPart: (checked: number) => void,
  signal: AbortSignal,
): Promise<AuditCheck & { total: number }> {
  let total = 0;
  let after = 0;
  const faults: AuditCheck["faults"] = [];
  for (;;) {
    const { data } = await auditVerify({ query: { after }, signal });
    total += data.checked;
    faults.push(...data.faults);
    onPart(total);
    if (data.done) return { ...data, faults, total };
    after = data.reached;
  }
}
