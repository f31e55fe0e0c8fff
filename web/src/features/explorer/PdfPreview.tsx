import { useLingui } from "@lingui/react/macro";
import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { FileEntry } from "@/api/types";
import { contentQuery } from "@/queries/files";
import { EmptyState } from "@/ui/EmptyState";
import { ProblemAlert } from "@/ui/ProblemAlert";
import styles from "./Preview.module.css";

const MOST = 64 * 2 ** 20;
const MARK = [0x25, 0x50, 0x44, 0x46, 0x2d];

interface Props {
  folder: string;
  path: string;
  entry: FileEntry;
}

/**
 * PDF preview in the browser's own viewer.
 *
 * The frame receives the bytes with the PDF media type, so that a file never runs as a page of this origin,
 * whatever its content. A sandboxed frame would block the viewer as well.
 */
export function PdfPreview({ folder, path, entry }: Props) {
  const { t } = useLingui();
  const content = useQuery(contentQuery(folder, path, entry.etag, MOST));
  const [address, setAddress] = useState<string>();
  const shown = content.data?.complete && isPdf(content.data.bytes) ? content.data.bytes : undefined;
  useEffect(() => {
    if (!shown) return;
    const made = URL.createObjectURL(new Blob([shown as BlobPart], { type: "application/pdf" }));
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [shown]);
  if (content.isPending) return <Skeleton height={200} aria-busy />;
  if (content.isError) return <ProblemAlert problem={content.error} onRetry={() => void content.refetch()} />;
  if (!content.data.complete)
    return <EmptyState title={t`Too large to preview`} text={t`Download the file to open it.`} />;
  if (!shown) return <EmptyState title={t`Not a valid PDF`} text={t`Download the file to open it.`} />;
  if (!navigator.pdfViewerEnabled)
    return (
      <EmptyState title={t`This browser cannot show PDF files`} text={t`Download the file to open it.`} />
    );
  return address && <iframe className={styles.pdf} src={address} title={entry.name} />;
}

/** Whether the bytes start with the PDF signature. */
export const isPdf = (bytes: Uint8Array): boolean => MARK.every((byte, at) => bytes[at] === byte);
