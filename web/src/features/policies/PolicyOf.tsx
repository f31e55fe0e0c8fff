import { Trans, useLingui } from "@lingui/react/macro";
import { Anchor, Button, Group } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { may, type ObjectOwner } from "@/me/may";
import { useMe } from "@/me/use-me";
import type { Holder } from "./AssignForm";
import { useAssign } from "./use-assign";

interface Props {
  policy: { id: string; name: string };
  holder: Holder;
  whose: ObjectOwner;
}

const KINDS = { keypairs: undefined, sign_ins: undefined, users: "user", projects: "project" } as const;

/** A holder's policy; permitted users can assign another. */
export function PolicyOf({ policy, holder, whose }: Props) {
  const { t } = useLingui();
  const me = useMe();
  const assign = useAssign();
  return (
    <Group gap="xs">
      {may(me, "policy.read") ? (
        <Anchor
          size="sm"
          renderRoot={(props) => (
            <Link {...props} to="/policies" search={{ kind: KINDS[holder.kind], open: policy.id }} />
          )}
        >
          {policy.name}
        </Anchor>
      ) : (
        policy.name
      )}
      {may(me, "policy.assign", whose) && (
        <Button
          size="compact-xs"
          variant="default"
          aria-label={
            holder.kind === "sign_ins" ? t`Change policy without a keypair` : t`Change resource policy`
          }
          onClick={() => assign(policy, holder)}
        >
          <Trans>Change…</Trans>
        </Button>
      )}
    </Group>
  );
}
