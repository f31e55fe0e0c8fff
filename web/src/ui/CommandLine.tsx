import { useLingui } from "@lingui/react/macro";
import styles from "./CommandLine.module.css";
import { CopyButton } from "./CopyButton";

/** A CLI command with a copy button. */
export function CommandLine({ text }: { text: string }) {
  const { t } = useLingui();
  return (
    <div className={styles.line}>
      <code className={styles.text}>{text}</code>
      <CopyButton text={text} label={t`Copy command`} />
    </div>
  );
}
