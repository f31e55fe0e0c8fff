import { Trans, useLingui } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import { useMemo } from "react";
import { EmptyState } from "@/ui/EmptyState";
import { Markdown } from "@/ui/Markdown";
import { type Cell, type Output, readNotebook } from "./notebook";
import styles from "./Preview.module.css";

/** Read-only notebook preview: cells and their outputs. Nothing is executed. */
export function NotebookPreview({ text }: { text: string }) {
  const { t } = useLingui();
  const cells = useMemo(() => readNotebook(text), [text]);
  if (cells === null) {
    return (
      <EmptyState
        title={t`Not a valid notebook`}
        text={t`The notebook is too large to preview, or damaged.`}
      />
    );
  }
  return (
    <>
      {cells.map((cell, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: cells are identified by index
        <CellView key={at} cell={cell} />
      ))}
    </>
  );
}

function CellView({ cell }: { cell: Cell }) {
  if (cell.kind === "markdown") {
    return (
      <div className={`${styles.cell} ${styles.markdown}`}>
        <Markdown text={cell.source} />
      </div>
    );
  }
  return (
    <div className={styles.cell}>
      {cell.count !== null && (
        <Text size="xs" c="dimmed">
          [{cell.count}]
        </Text>
      )}
      <pre className={`${styles.text} ${styles.source}`}>{cell.source}</pre>
      {cell.outputs.map((output, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: outputs are identified by index
        <OutputView key={at} output={output} />
      ))}
    </div>
  );
}

function OutputView({ output }: { output: Output }) {
  const { t } = useLingui();
  if (output.kind === "picture") return <img className={styles.image} src={output.address} alt={t`Output`} />;
  if (output.kind === "text") {
    return (
      <pre className={styles.text} style={{ color: output.bad ? "var(--carrel-bad)" : undefined }}>
        {output.text}
      </pre>
    );
  }
  return (
    <Text size="xs" c="dimmed">
      <Trans>This output needs a running notebook.</Trans>
    </Text>
  );
}
