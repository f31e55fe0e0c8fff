import { Trans } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import Papa from "papaparse";
import { useMemo } from "react";
import styles from "./Preview.module.css";

const MOST_ROWS = 500;
const MOST_COLUMNS = 60;

/** CSV or similar as a table; the first row is the header. */
export function TablePreview({ text, whole: complete }: { text: string; whole: boolean }) {
  const rows = useMemo(
    () => Papa.parse<string[]>(text, { preview: MOST_ROWS + 1, skipEmptyLines: true }).data,
    [text],
  );
  const [head = [], ...body] = rows.map((row) => row.slice(0, MOST_COLUMNS));
  const more = !complete || rows.length > MOST_ROWS || rows.some((row) => row.length > MOST_COLUMNS);
  return (
    <>
      <table className={styles.sheet}>
        <thead>
          <tr>
            {head.map((cell, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: cells are identified by index
              <th key={at} scope="col" title={cell}>
                {cell}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {body.map((row, line) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows are identified by index
            <tr key={line}>
              {row.map((cell, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: cells are identified by index
                <td key={at} title={cell}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {more && (
        <Text size="xs" c="dimmed" mt="sm">
          <Trans>
            Showing the first {body.length} rows and up to {MOST_COLUMNS} columns.
          </Trans>
        </Text>
      )}
    </>
  );
}
