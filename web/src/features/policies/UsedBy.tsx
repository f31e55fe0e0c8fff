import { Plural, Trans } from "@lingui/react/macro";
import type { Policy } from "@/api/types";
import { holdersOf } from "./used-by";

/** The number of holders of a policy. */
export function UsedBy({ policy }: { policy: Policy }) {
  const { keypairs, sign_ins, users, projects } = policy.used_by;
  if (holdersOf(policy) === 0) return <Trans>none</Trans>;
  if (policy.kind === "user") return <Plural value={users} one="# user" other="# users" />;
  if (policy.kind === "project") return <Plural value={projects} one="# project" other="# projects" />;
  return (
    <>
      {sign_ins > 0 && (
        <Plural value={sign_ins} one="# user without a keypair" other="# users without a keypair" />
      )}
      {sign_ins > 0 && keypairs > 0 && ", "}
      {keypairs > 0 && <Plural value={keypairs} one="# keypair" other="# keypairs" />}
    </>
  );
}
