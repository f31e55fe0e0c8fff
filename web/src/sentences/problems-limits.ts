import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";

interface Sentences {
  detail: MessageDescriptor;
  hint?: MessageDescriptor;
}

const ASK = msg`Ask an administrator.`;

/** Error codes of resource groups, nodes, presets, policies and limits. */
export const LIMIT_PROBLEMS: Record<string, Sentences> = {
  "group.default": {
    detail: msg`The default resource group cannot be deleted.`,
    hint: msg`Deactivate it instead.`,
  },
  "group.in_use": {
    detail: msg`The resource group still has nodes or sessions.`,
    hint: msg`Move its nodes to another group, or deactivate it.`,
  },
  "policy.no_idle_rule": { detail: msg`There is no idle rule to try.` },
  "group.name_taken": { detail: msg`A resource group with that name already exists.` },
  "group.none": { detail: msg`You have access to no resource group.`, hint: ASK },
  "group.not_found": { detail: msg`Resource group not found.` },
  "node.hidden": { detail: msg`Nodes are visible to superadmins only.` },
  "node.no_such_slot": { detail: msg`The node has no such slot.` },
  "engine.has_environments": {
    detail: msg`The engine has images of environments.`,
    hint: msg`Delete these versions first.`,
  },
  "engine.in_use": {
    detail: msg`The engine has containers of sessions.`,
    hint: msg`Drain its nodes first.`,
  },
  "engine.local": { detail: msg`The local engine is detected at startup and cannot be changed or removed.` },
  "engine.name_taken": {
    detail: msg`An engine with that name already exists.`,
    hint: msg`Choose another name.`,
  },
  "engine.not_found": { detail: msg`Engine not found.` },
  "engine.other": { detail: msg`With these settings, containers of sessions on the engine cannot be found.` },
  "engine.secrets_again": {
    detail: msg`The secrets belong to the previous settings of the engine.`,
    hint: msg`Set them again together with the change.`,
  },
  "engine.unreachable": { detail: msg`The engine does not respond with these settings.` },
  "node.ambiguous": {
    detail: msg`Several engines have a node with this name.`,
    hint: msg`Use NODE@ENGINE, or the node's id.`,
  },
  "node.not_gone": { detail: msg`Only a node that is down while its engine responds can be forgotten.` },
  "node.reserve_too_large": {
    detail: msg`You cannot reserve more than the node has.`,
    hint: msg`To keep all new sessions away from it, cordon it.`,
  },
  "node.unconfirmed": { detail: msg`The confirmation does not match the node's name.` },
  "node.not_found": { detail: msg`Node not found.` },
  "policy.ambiguous": { detail: msg`Several resource policies have that name.` },
  "policy.default": {
    detail: msg`A default policy cannot be deleted.`,
    hint: msg`Change its limits instead.`,
  },
  "policy.in_use": {
    detail: msg`The resource policy is still in use.`,
    hint: msg`Assign them another policy first.`,
  },
  "policy.name_taken": { detail: msg`A resource policy with that name already exists.` },
  "policy.no_such_limit": { detail: msg`A policy of this kind has no such limit.` },
  "policy.not_found": { detail: msg`Resource policy not found.` },
  "policy.other_kind": { detail: msg`The resource policy is of another kind.` },
  "preset.ambiguous": { detail: msg`Several presets have that name.` },
  "preset.name_taken": { detail: msg`A preset with that name already exists.` },
  "preset.not_found": { detail: msg`Preset not found.` },
  "slot.amount_not_allowed": { detail: msg`A container cannot have this amount of the slot.` },
  "slot.not_both": {
    detail: msg`Two of the slots use the same devices.`,
    hint: msg`Request one of them.`,
  },
  "slot.unknown": { detail: msg`No node has a slot with that name.` },
  "session.lives_too_long": {
    detail: msg`The time limit exceeds that of your resource policy.`,
    hint: msg`Request a shorter time limit.`,
  },
  "session.dependency_failed": {
    detail: msg`A session that it is to start after did not end as needed.`,
    hint: msg`Choose another condition or session, or none.`,
  },
  "session.not_waiting": { detail: msg`The session is no longer pending.` },
  "session.over_ceiling": { detail: msg`This exceeds a limit.`, hint: msg`Request less.` },
  "session.priority_too_high": {
    detail: msg`The priority exceeds the limit of your resource policy.`,
    hint: msg`Ask a project administrator to raise the priority.`,
  },
  "session.too_many_waiting": {
    detail: msg`You have as many pending sessions as your resource policy allows.`,
    hint: msg`Wait until one of them starts, or cancel one.`,
  },
  "session.too_much_waiting": {
    detail: msg`Your pending sessions request as much as your resource policy allows.`,
    hint: msg`Wait until one of them starts, or request less.`,
  },
};
