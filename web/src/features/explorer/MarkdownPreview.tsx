import gfm from "remark-gfm";
import { contentAddress } from "@/queries/files";
import { Markdown } from "@/ui/Markdown";
import styles from "./Preview.module.css";
import { parentOf, resolveAddress } from "./paths";

const PLUGINS = [gfm];

/** Markdown preview; shows images of the folder, but none of other sites. */
export function MarkdownPreview({ text, folder, path }: { text: string; folder: string; path: string }) {
  const picture = (source: string) => {
    if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(source)) return null;
    const target = resolveAddress(parentOf(path), source);
    return target === null ? null : contentAddress(folder, target);
  };
  return (
    <div className={styles.markdown}>
      <Markdown text={text} plugins={PLUGINS} picture={picture} />
    </div>
  );
}
