import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";

interface Sentences {
  detail: MessageDescriptor;
  hint?: MessageDescriptor;
}

const ASK = msg`Ask an administrator.`;

/** The codes of resource groups, nodes, presets, policies, and of what a session may ask for. */
export const LIMIT_PROBLEMS: Record<string, Sentences> = {
  "group.default": {
    detail: msg`The default resource group stays: new nodes come into it.`,
    hint: msg`Deactivate it instead.`,
  },
  "group.in_use": {
    detail: msg`The resource group still holds nodes or sessions.`,
    hint: msg`Move its nodes to another group, and wait for its sessions.`,
  },
  "group.name_taken": { detail: msg`A resource group with that name already exists.` },
  "group.none": { detail: msg`You may use no resource group.`, hint: ASK },
  "group.not_found": { detail: msg`There is no such resource group that you may use for this.` },
  "node.hidden": { detail: msg`Nodes are shown to superadmins only.` },
  "node.no_such_slot": { detail: msg`The node has no such slot.` },
  "engine.in_use": {
    detail: msg`The engine holds containers of sessions.`,
    hint: msg`Drain its nodes first.`,
  },
  "engine.local": { detail: msg`This machine's engine stays where the start of Carrel found it.` },
  "engine.name_taken": { detail: msg`There is an engine with this name.`, hint: msg`Choose another name.` },
  "engine.not_found": { detail: msg`There is no such engine.` },
  "engine.other": { detail: msg`With these settings, what runs on the engine cannot be found.` },
  "engine.secrets_again": {
    detail: msg`The secrets were given for the engine as it was set up.`,
    hint: msg`Give them together with what changes.`,
  },
  "engine.unreachable": { detail: msg`The engine does not answer with these settings.` },
  "node.ambiguous": {
    detail: msg`Nodes of several engines have this name.`,
    hint: msg`Write NODE@ENGINE, or the id of the node.`,
  },
  "node.not_gone": { detail: msg`Only a node that is DOWN while its engine answers can be forgotten.` },
  "node.reserve_too_large": {
    detail: msg`The node has less than that: more cannot be reserved.`,
    hint: msg`To keep all new sessions away from it, cordon it.`,
  },
  "node.unconfirmed": { detail: msg`What was typed is not the name of the node.` },
  "node.not_found": { detail: msg`Node not found.` },
  "policy.ambiguous": { detail: msg`Several resource policies have that name.` },
  "policy.default": {
    detail: msg`A default policy stays: it holds until somebody says otherwise.`,
    hint: msg`Change its limits instead.`,
  },
  "policy.in_use": {
    detail: msg`The resource policy is still in use.`,
    hint: msg`Give those who have it another one first.`,
  },
  "policy.name_taken": { detail: msg`A resource policy with that name already exists.` },
  "policy.no_such_limit": { detail: msg`A policy of this kind has no such limit.` },
  "policy.not_found": { detail: msg`Resource policy not found.` },
  "policy.other_kind": { detail: msg`The resource policy is of another kind.` },
  "preset.ambiguous": { detail: msg`Several presets have that name.` },
  "preset.name_taken": { detail: msg`A preset with that name already exists.` },
  "preset.not_found": { detail: msg`Preset not found.` },
  "slot.amount_not_allowed": { detail: msg`No session may have so much of the slot.` },
  "slot.not_both": {
    detail: msg`Two of the slots are taken from the same devices.`,
    hint: msg`Ask for one of them.`,
  },
  "slot.unknown": { detail: msg`No node has ever had a slot of that name.` },
  "session.lives_too_long": {
    detail: msg`Your resource policy does not let a session run for so long.`,
    hint: msg`Ask for less time.`,
  },
  "session.not_waiting": { detail: msg`The session is no longer pending.` },
  "session.over_ceiling": { detail: msg`This is more than a limit allows at all.`, hint: msg`Ask for less.` },
  "session.priority_too_high": {
    detail: msg`Your resource policy does not allow so high a priority.`,
    hint: msg`Ask an administrator of the project to raise it.`,
  },
  "session.too_many_waiting": {
    detail: msg`As many of your sessions wait as your resource policy lets wait at once.`,
    hint: msg`Wait until one of them has started, or cancel one.`,
  },
  "session.too_much_waiting": {
    detail: msg`Your waiting sessions ask for as much as your resource policy allows.`,
    hint: msg`Wait until one of them has started, or ask for less.`,
  },
};
