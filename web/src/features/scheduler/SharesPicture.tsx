import { Trans, useLingui } from "@lingui/react/macro";
import styles from "./Shares.module.css";
import type { ShareLine } from "./shares";

/** Usage of each domain, project and user as a bar, with a mark at the fair share. */
export function SharesPicture({ lines }: { lines: ShareLine[] }) {
  const { t } = useLingui();
  const percent = (part: number) => `${Math.round(part * 100)}%`;
  return (
    <figure className={styles.picture} aria-label={t`Chart of shares; the table below has the same data`}>
      <div aria-hidden>
        {lines.map(({ path, node, depth, portion, next }) => (
          <div key={path} className={styles.line} data-depth={depth} data-share>
            <span className={styles.name} style={{ paddingInlineStart: `${depth}rem` }} title={node.name}>
              {node.name}
            </span>
            <span className={styles.track}>
              <span
                className={(portion ?? 0) > node.entitled + 0.005 ? styles.over : styles.had}
                style={{ width: percent(portion ?? 0) }}
              />
              <i className={styles.entitled} style={{ left: percent(node.entitled) }} />
            </span>
            <span className={styles.figure}>{portion === null ? "–" : percent(portion)}</span>
            <span className={styles.next}>{next && <Trans>next</Trans>}</span>
          </div>
        ))}
      </div>
      <figcaption className={styles.caption}>
        <Trans>
          Bars show the share of usage within the same level. Marks show the target share by weight.
        </Trans>{" "}
        {lines.some(({ portion }) => portion === null) && (
          <Trans>Usage of other domains is visible to superadmins only.</Trans>
        )}
      </figcaption>
    </figure>
  );
}
