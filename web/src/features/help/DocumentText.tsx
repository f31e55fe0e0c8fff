import { Link } from "@tanstack/react-router";
import gfm from "remark-gfm";
import { Markdown } from "@/ui/Markdown";
import { type Document, headingId, linked, pictured } from "./documents";
import styles from "./Help.module.css";

const PLUGINS = [gfm];

/** One document; its links lead to the others. It is written in English. */
export function DocumentText({ document }: { document: Document }) {
  return (
    <article lang="en" className={styles.document}>
      <Markdown
        text={document.text}
        plugins={PLUGINS}
        picture={(source) => pictured(document, source)}
        link={(href, children) => {
          const target = linked(document, href);
          if (!target) return <span>{children}</span>;
          return (
            <Link to="/help/$" params={{ _splat: target.path }} hash={target.hash}>
              {children}
            </Link>
          );
        }}
        headingId={headingId}
      />
    </article>
  );
}
