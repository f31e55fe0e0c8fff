import { useLingui } from "@lingui/react/macro";
import { KeyHelp } from "@/ui/table/KeyHelp";

/** Keyboard shortcuts of the file list. */
export function FileKeyHelp(props: { opened: boolean; onClose: () => void }) {
  const { t } = useLingui();
  return (
    <KeyHelp
      {...props}
      lines={[
        [["Enter"], t`Open`],
        [["⌫"], t`Go up`],
        [["Shift", "↓"], t`Select a range`],
        [["Space"], t`Select`],
        [["Ctrl", "A"], t`Select all`],
        [["F2"], t`Rename`],
        [["Delete"], t`Delete`],
      ]}
    />
  );
}
