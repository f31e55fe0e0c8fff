import { useLingui } from "@lingui/react/macro";
import { Drawer } from "@mantine/core";
import { useState } from "react";
import type { DraftUser, UserMade } from "@/api/types";
import { ManyForm } from "./ManyForm";
import { ManyResult } from "./ManyResult";

interface Props {
  opened: boolean;
  onClose: () => void;
}

/** What was asked for, and what became of each. */
export interface Outcome {
  rows: DraftUser[];
  made: UserMade[];
}

/** Makes many users, out of a file or by a pattern. */
export function CreateManyDrawer({ opened, onClose }: Props) {
  const { t } = useLingui();
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const close = () => {
    setOutcome(null);
    onClose();
  };
  return (
    <Drawer
      opened={opened}
      onClose={close}
      size="80rem"
      title={t`Create several users`}
      closeButtonProps={{ "aria-label": t`Close` }}
      // What is shown once must not go by a slip of the mouse.
      closeOnClickOutside={outcome === null}
      closeOnEscape={outcome === null}
    >
      {outcome ? (
        <ManyResult outcome={outcome} onDone={close} />
      ) : (
        <ManyForm onMade={setOutcome} onCancel={close} />
      )}
    </Drawer>
  );
}
