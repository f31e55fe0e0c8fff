import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import styles from "./Terminal.module.css";

const ESC = "\u001b";

/** The keys that a phone's keyboard lacks. Ctrl applies to the next letter pressed here. */
export function PhoneKeys({ onKey, onFocus }: { onKey: (input: string) => void; onFocus: () => void }) {
  const { t } = useLingui();
  const [ctrl, setCtrl] = useState(false);
  const keys: [string, string, string][] = ctrl
    ? [..."CDZRLAEUWK"].map((letter) => [
        letter,
        String.fromCharCode(letter.charCodeAt(0) - 64),
        `Ctrl+${letter}`,
      ])
    : [
        ["Esc", ESC, t`Escape`],
        ["Tab", "\t", t`Tab`],
        ["↑", `${ESC}[A`, t`Up`],
        ["↓", `${ESC}[B`, t({ context: "key", message: "Down" })],
        ["←", `${ESC}[D`, t`Left`],
        ["→", `${ESC}[C`, t`Right`],
        ["|", "|", t`Pipe`],
        ["/", "/", t`Slash`],
        ["~", "~", t`Tilde`],
        ["-", "-", t`Hyphen`],
      ];
  return (
    <div className={styles.keys} role="toolbar" aria-label={t`Keys`}>
      <button type="button" className={styles.key} aria-pressed={ctrl} onClick={() => setCtrl(!ctrl)}>
        Ctrl
      </button>
      {keys.map(([shown, input, label]) => (
        <button
          key={shown}
          type="button"
          className={styles.key}
          aria-label={label}
          // Otherwise the button would take the focus, and the phone would hide its keyboard.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => {
            onKey(input);
            setCtrl(false);
            onFocus();
          }}
        >
          {shown}
        </button>
      ))}
    </div>
  );
}
