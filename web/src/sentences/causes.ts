import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";

/** Why a session went from one state to the next, by the word in its history. */
export const CAUSES: Record<string, MessageDescriptor> = {
  created: msg`asked for`,
  scheduled: msg`a node was found`,
  launch: msg`the node began`,
  image_ready: msg`the image is there`,
  started: msg`its container started`,
  restarted: msg`started again`,
  renamed: msg`renamed`,
  user: msg`ended by a person`,
  removed: msg`its container is removed`,
  retry: msg`to be tried again`,
  lost: msg`its container was lost`,
  deadline: msg`it took too long`,
  out_of_memory: msg`out of memory`,
  engine_error: msg`the container engine refused`,
  engine_unavailable: msg`the container engine did not answer`,
  image_unusable: msg`the image cannot be used`,
  command_unusable: msg`the image cannot run the command`,
  addresses_exhausted: msg`no network address was left`,
  container_gone: msg`its container is gone`,
  disk_full: msg`the disk is full`,
  pull_failed: msg`the image could not be pulled`,
  registry_busy: msg`the registry was busy`,
  registry_unavailable: msg`the registry did not answer`,
  time_limit: msg`its time was up`,
  pending_timeout: msg`it waited for too long`,
  node_lost: msg`its node is lost`,
  node_closed: msg`its node takes no new sessions`,
  drained: msg`its node is being emptied`,
};
