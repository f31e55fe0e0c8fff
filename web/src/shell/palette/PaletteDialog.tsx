import { useLingui } from "@lingui/react/macro";
import { Modal } from "@mantine/core";
import type { Me } from "@/api/types";
import styles from "./Palette.module.css";
import { PaletteBox } from "./PaletteBox";
import { palette } from "./store";
import { useRun } from "./use-run";

/** The palette in its window. */
export function PaletteDialog({ me, opened }: { me: Me; opened: boolean }) {
  const { t } = useLingui();
  const run = useRun();
  return (
    <Modal
      opened={opened}
      onClose={palette.close}
      withCloseButton={false}
      attributes={{ content: { "aria-label": t`Search and commands` } }}
      classNames={{ inner: styles.inner, content: styles.content, body: styles.body }}
      overlayProps={{ blur: 0, backgroundOpacity: 0.35 }}
      size={620}
      zIndex={300}
    >
      <PaletteBox
        me={me}
        onChoose={({ does }) => {
          palette.close();
          run(does);
        }}
      />
    </Modal>
  );
}
