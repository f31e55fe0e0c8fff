import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { Group } from "@/api/types";

interface Words {
  title: MessageDescriptor;
  text: MessageDescriptor;
}

/** The order among sessions of the same priority. */
export const ORDERS: Record<Group["scheduler"], Words> = {
  fifo: { title: msg`First come, first served`, text: msg`The oldest session starts first.` },
  lifo: { title: msg`Last come, first served`, text: msg`The newest session starts first.` },
  drf: {
    title: msg`Dominant resource fairness`,
    text: msg`The user with the smallest dominant share goes first.`,
  },
  fair_share: {
    title: msg`Fair share`,
    text: msg`Users with the lowest usage relative to their weight go first. Past usage decays over time.`,
  },
};

/** The choice among nodes with enough capacity. */
export const PLACEMENTS: Record<Group["placement"], Words> = {
  concentrated: {
    title: msg`Concentrated`,
    text: msg`The fullest node that fits. Other nodes stay free for large sessions.`,
  },
  dispersed: {
    title: msg`Dispersed`,
    text: msg`The node with the most free resources. Sessions affect each other least.`,
  },
  round_robin: { title: msg`Round robin`, text: msg`Nodes take turns.` },
};

/** What happens to sessions on a lost node. */
export const NODE_LOSSES: Record<Group["on_node_loss"], MessageDescriptor> = {
  end: msg`Terminate sessions`,
  reschedule: msg`Restart sessions on other nodes`,
};

export const SESSION_KINDS: Record<string, MessageDescriptor> = {
  interactive: msg`Interactive`,
  batch: msg`Batch`,
  inference: msg`Inference`,
};
