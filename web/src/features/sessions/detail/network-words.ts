import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { NetworkCheck, SessionDetail } from "@/api/types";
import { inUnit } from "@/ui/format";

type Transport = NonNullable<NetworkCheck["paths"]>[number]["transport"];

export const MEASURED = "network.measured";

export const METHOD_WORDS: Record<NonNullable<NetworkCheck["method"]>, MessageDescriptor> = {
  nccl: msg`PyTorch with NCCL, between accelerators`,
  gloo: msg`PyTorch with Gloo, between processors`,
  tcp: msg`a ring over TCP in Python`,
};

export const LACK_WORDS: Record<NonNullable<NetworkCheck["lack"]>, MessageDescriptor> = {
  no_torch: msg`The Python in the image has no PyTorch.`,
  little_memory: msg`Too little memory is free for PyTorch.`,
  broken_torch: msg`PyTorch cannot be imported, or has no torch.distributed.`,
};

export const TRANSPORT_WORDS: Record<Transport, MessageDescriptor> = {
  tcp: msg`TCP`,
  shared_memory: msg`Shared memory`,
  p2p: msg`Direct, between accelerators`,
  infiniband: msg`InfiniBand`,
  roce: msg`RoCE`,
  other: msg`Other`,
};

/** Whether there is something to measure between: several containers or whole accelerators. */
export const mayHaveNetwork = ({ cluster_size, slots }: SessionDetail): boolean =>
  cluster_size > 1 || Object.entries(slots).some(([slot, amount]) => slot.endsWith(".device") && amount > 1);

/** "83 μs", "4.2 ms", "1.4 sec". */
export function formatShort(seconds: number, locale: string): string {
  const [value, unit] =
    seconds < 1e-3
      ? ([seconds * 1e6, "microsecond"] as const)
      : seconds < 1
        ? ([seconds * 1e3, "millisecond"] as const)
        : ([seconds, "second"] as const);
  return inUnit(value, unit, locale, "short", {
    maximumFractionDigits: unit === "microsecond" ? 0 : 1,
  });
}
