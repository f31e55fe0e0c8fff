import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { FormDrawer } from "@/ui/form/FormDrawer";
import type { Outcome } from "./drafts";
import { ManyForm } from "./ManyForm";
import { ManyResult } from "./ManyResult";

interface Props {
  opened: boolean;
  onClose: () => void;
}

/** Creates many users, from a file or a pattern. */
export function CreateManyDrawer({ opened, onClose }: Props) {
  const { t } = useLingui();
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const close = () => {
    setOutcome(null);
    onClose();
  };
  return (
    <FormDrawer
      opened={opened}
      onClose={close}
      size="80rem"
      title={t`Bulk create users`}
      closeButtonProps={{ "aria-label": t`Close` }}
      // Secrets shown once must not vanish by an accidental click.
      closeOnClickOutside={outcome === null}
      closeOnEscape={outcome === null}
    >
      {outcome ? (
        <ManyResult outcome={outcome} onDone={close} />
      ) : (
        <ManyForm onMade={setOutcome} onCancel={close} />
      )}
    </FormDrawer>
  );
}
