import { Trans } from "@lingui/react/macro";
import { useDisclosure } from "@mantine/hooks";
import { IconStack2 } from "@tabler/icons-react";
import type { SessionDetail } from "@/api/types";
import { SaveEnvironmentDialog } from "@/features/environments/SaveEnvironmentDialog";
import { useSessionActions } from "@/features/sessions/use-actions";
import { OwnButton } from "./OwnButton";

/** Saves an own running session as an environment. */
export function SaveEnvironmentButton({ session }: { session: SessionDetail }) {
  const actions = useSessionActions();
  const [saving, { open, close }] = useDisclosure(false);
  if (session.state !== "RUNNING") return null;
  return (
    <>
      <OwnButton
        refusal={actions.ownerOnly(session)}
        variant="default"
        leftSection={<IconStack2 size={16} aria-hidden />}
        onClick={open}
      >
        <Trans>Save as environment…</Trans>
      </OwnButton>
      <SaveEnvironmentDialog session={session} opened={saving} onClose={close} />
    </>
  );
}
