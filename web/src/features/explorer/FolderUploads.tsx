import { useLingui } from "@lingui/react/macro";
import { UploadCard } from "@/features/uploads/UploadCard";
import { useBatches } from "@/features/uploads/use-uploads";
import styles from "./Explorer.module.css";

/** The unfinished uploads to a folder, with progress and cancel. */
export function FolderUploads({ folder }: { folder: string }) {
  const { t } = useLingui();
  const batches = useBatches().filter((batch) => batch.folder.id === folder && batch.state !== "over");
  if (batches.length === 0) return null;
  return (
    <section className={styles.uploads} aria-label={t`Uploads`}>
      {batches.map((batch) => (
        <UploadCard key={batch.key} batch={batch} />
      ))}
    </section>
  );
}
