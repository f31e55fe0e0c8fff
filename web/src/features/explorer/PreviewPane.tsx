import { useLingui } from "@lingui/react/macro";
import { ActionIcon, Skeleton, Text, Tooltip } from "@mantine/core";
import { IconDownload, IconPencil, IconX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import type { FileEntry, Folder } from "@/api/types";
import { contentAddress, contentQuery, filesShowQuery } from "@/queries/files";
import { EmptyState } from "@/ui/EmptyState";
import { formatInstant, formatSize } from "@/ui/format";
import { ProblemAlert } from "@/ui/ProblemAlert";
import styles from "./Explorer.module.css";
import { isEditable, isOpaque, previewKind } from "./kinds";
import { isSource } from "./languages";
import shown from "./Preview.module.css";
import { baseName, shownName } from "./paths";
import { decoded } from "./text";
import type { FileActs } from "./use-file-acts";

const TablePreview = lazy(() => import("./TablePreview").then((m) => ({ default: m.TablePreview })));
const NotebookPreview = lazy(() => import("./NotebookPreview").then((m) => ({ default: m.NotebookPreview })));
const SourcePreview = lazy(() => import("./SourcePreview").then((m) => ({ default: m.SourcePreview })));
const MarkdownPreview = lazy(() => import("./MarkdownPreview").then((m) => ({ default: m.MarkdownPreview })));

const PdfPreview = lazy(() => import("./PdfPreview").then((m) => ({ default: m.PdfPreview })));

const MIB = 2 ** 20;
/**
 * Maximum bytes to read for a preview; notebooks are read completely, since truncated JSON cannot be parsed.
 */
const MOST = { table: MIB, text: MIB, markdown: MIB, notebook: 16 * MIB } as const;

interface Props {
  folder: Folder;
  path: string;
  acts: FileActs;
  onEdit: () => void;
  onClose: () => void;
}

/** Preview of a file, beside the list. */
export function PreviewPane({ folder, path, acts, onEdit, onClose }: Props) {
  const { t, i18n } = useLingui();
  const query = useQuery(filesShowQuery(folder.id, path));
  const entry = query.data;
  const name = shownName(baseName(path));
  const tools = [
    ...(isEditable(name)
      ? [
          {
            label: acts.whyNotWrite ? t`Edit. ${acts.whyNotWrite}` : t`Edit`,
            icon: IconPencil,
            act: onEdit,
            off: !!acts.whyNotWrite,
          },
        ]
      : []),
    { label: t`Download`, icon: IconDownload, act: () => void acts.download([path]), off: false },
    { label: t`Close preview`, icon: IconX, act: onClose, off: false },
  ];
  return (
    <>
      <div className={styles.previewHead}>
        <div style={{ flex: 1, minWidth: 0 }}>
          <Text size="sm" fw={600} truncate title={path}>
            {name}
          </Text>
          {entry && (
            <Text size="xs" c="dimmed" truncate>
              {formatSize(entry.size_bytes ?? 0)} · {formatInstant(entry.modified_at, i18n.locale)} ·{" "}
              {entry.mode}
            </Text>
          )}
        </div>
        {tools.map(({ label, icon: Icon, act, off }) => (
          <Tooltip key={label} label={label}>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={label}
              aria-disabled={off || undefined}
              data-disabled={off || undefined}
              onClick={off ? undefined : act}
            >
              <Icon size={17} stroke={1.7} aria-hidden />
            </ActionIcon>
          </Tooltip>
        ))}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section className={styles.previewBody} tabIndex={0} aria-label={name}>
        {query.isPending && <Skeleton height={200} aria-busy />}
        {query.isError && <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />}
        {entry && <Content folder={folder} path={path} entry={entry} />}
      </section>
    </>
  );
}

function Content({ folder, path, entry }: { folder: Folder; path: string; entry: FileEntry }) {
  const { t } = useLingui();
  const kind = previewKind(entry.name);
  if (entry.kind !== "file") return <EmptyState title={t`Not a regular file`} />;
  if (kind === "image") {
    return <img className={shown.image} src={contentAddress(folder.id, path, entry.etag)} alt={entry.name} />;
  }
  if (kind === "pdf") {
    return (
      <Suspense fallback={<Skeleton height={200} aria-busy />}>
        <PdfPreview folder={folder.id} path={path} entry={entry} />
      </Suspense>
    );
  }
  if (isOpaque(entry)) return <EmptyState title={t`No preview for this file type`} />;
  return <TextContent folder={folder} path={path} entry={entry} kind={kind} />;
}

interface TextProps {
  folder: Folder;
  path: string;
  entry: FileEntry;
  kind: keyof typeof MOST;
}

function TextContent({ folder, path, entry, kind }: TextProps) {
  const { t } = useLingui();
  const most = MOST[kind];
  const content = useQuery(contentQuery(folder.id, path, entry.etag, most));
  if (content.isPending) return <Skeleton height={200} aria-busy />;
  if (content.isError) return <ProblemAlert problem={content.error} onRetry={() => void content.refetch()} />;
  const { bytes, complete } = content.data;
  const text = decoded(bytes, complete);
  if (text === null) return <EmptyState title={t`Not a text file`} text={t`Download the file to open it.`} />;
  if (text === "") return <EmptyState title={t`The file is empty`} />;
  return (
    <Suspense fallback={<Skeleton height={200} aria-busy />}>
      {kind === "table" && <TablePreview text={text} whole={complete} />}
      {kind === "notebook" && <NotebookPreview text={text} />}
      {kind === "markdown" && <MarkdownPreview text={text} folder={folder.id} path={path} />}
      {kind === "text" &&
        (isSource(entry.name) ? (
          <SourcePreview name={entry.name} text={text} />
        ) : (
          <pre className={shown.text}>{text}</pre>
        ))}
      {!complete && kind !== "table" && (
        <Text size="xs" c="dimmed" mt="sm">
          {t`Showing the first ${formatSize(most)} of ${formatSize(entry.size_bytes ?? 0)}.`}
        </Text>
      )}
    </Suspense>
  );
}
