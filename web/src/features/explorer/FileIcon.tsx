import { useInViewport } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import type { FileEntry } from "@/api/types";
import styles from "./Explorer.module.css";
import { iconOf } from "./kinds";
import { hasThumbnail, thumbnailQuery } from "./thumbnails";

interface Props {
  folder: string;
  entry: FileEntry;
}

/** The icon of a file; for images in view, a thumbnail. */
export function FileIcon({ folder, entry }: Props) {
  const { ref, inViewport } = useInViewport<HTMLSpanElement>();
  const Icon = iconOf(entry);
  const icon = <Icon size={17} stroke={1.6} aria-hidden />;
  return (
    <span ref={ref} className={styles.icon}>
      {inViewport && hasThumbnail(entry) ? <Thumbnail folder={folder} entry={entry} icon={icon} /> : icon}
    </span>
  );
}

function Thumbnail({ folder, entry, icon }: Props & { icon: React.ReactNode }) {
  const { data } = useQuery(thumbnailQuery(folder, entry));
  return data ? <img src={data} alt="" /> : icon;
}
