import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { Group } from "@/api/types";

interface Words {
  title: MessageDescriptor;
  text: MessageDescriptor;
}

/** Who comes first among those of the same priority. */
export const ORDERS: Record<Group["scheduler"], Words> = {
  fifo: { title: msg`First come, first served`, text: msg`Who has waited longest goes first.` },
  lifo: { title: msg`Last come, first served`, text: msg`Who came last goes first.` },
  drf: {
    title: msg`Dominant resource fairness`,
    text: msg`Whose largest share of any slot is the smallest now goes first.`,
  },
  fair_share: {
    title: msg`Fair share`,
    text: msg`Who has had the least of what they are entitled to goes first; the past counts less and less.`,
  },
};

/** Which node among those with room. */
export const PLACEMENTS: Record<Group["placement"], Words> = {
  concentrated: {
    title: msg`Concentrated`,
    text: msg`The fullest node with room: others stay free for large sessions.`,
  },
  dispersed: {
    title: msg`Dispersed`,
    text: msg`The emptiest node: sessions are in each other's way the least.`,
  },
  round_robin: { title: msg`Round robin`, text: msg`One node after the other.` },
};

/** What becomes of sessions whose node is gone. */
export const NODE_LOSSES: Record<Group["on_node_loss"], MessageDescriptor> = {
  end: msg`End them`,
  reschedule: msg`Start them again elsewhere`,
};

export const SESSION_KINDS: Record<string, MessageDescriptor> = {
  interactive: msg`Interactive`,
  batch: msg`Batch`,
  inference: msg`Inference`,
};
