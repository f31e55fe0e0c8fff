import { useLingui } from "@lingui/react/macro";
import type { Node } from "@/api/types";
import { hostShares } from "./load";

/** "12 % CPU, 40 % memory": of the whole machine. */
export function HostShares({ node }: { node: Node }) {
  const { t } = useLingui();
  const shares = hostShares(node);
  if (!shares) return "–";
  const [cpu, mem] = [Math.round(shares.cpu * 100), Math.round(shares.mem * 100)];
  return t`${cpu}% CPU, ${mem}% memory`;
}
