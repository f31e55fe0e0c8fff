import { Drawer, type DrawerProps, Modal, type ModalProps } from "@mantine/core";
import { useCallback, useRef } from "react";
import { UnsavedInput, type WatchUnsaved } from "./unsaved-input";
import { useUnsavedGuard } from "./use-unsaved-guard";

interface Restorable {
  /** The form is kept in the address: back and reload restore it and need no question. */
  restored?: boolean;
}

/** A drawer that asks before it closes with unsaved input of its forms; their Cancel button does not ask. */
export function FormDrawer({ children, onClose, restored, ...drawer }: DrawerProps & Restorable) {
  const { watch, close } = useGuardedClose(onClose, { restored });
  return (
    <Drawer {...drawer} onClose={close}>
      <UnsavedInput value={watch}>{children}</UnsavedInput>
    </Drawer>
  );
}

/** As `FormDrawer`, as a dialog. */
export function FormModal({ children, onClose, ...modal }: ModalProps) {
  const { watch, close } = useGuardedClose(onClose);
  return (
    <Modal {...modal} onClose={close}>
      <UnsavedInput value={watch}>{children}</UnsavedInput>
    </Modal>
  );
}

interface Guarded extends Restorable {
  /** Another item of the list can replace the content. */
  switches?: boolean;
}

/** A close handler that asks if the forms inside, which `watch` collects, have unsaved input. */
export function useGuardedClose(onClose: () => void, { restored = false, switches }: Guarded = {}) {
  const forms = useRef(new Set<() => boolean>());
  const watch = useCallback<WatchUnsaved>((unsaved) => {
    forms.current.add(unsaved);
    return () => void forms.current.delete(unsaved);
  }, []);
  const mayDiscard = useUnsavedGuard({
    unsaved: () => [...forms.current].some((unsaved) => unsaved()),
    onBack: !restored,
    restored,
    onSwitch: switches,
  });
  return { watch, close: () => void mayDiscard().then((may) => may && onClose()) };
}
