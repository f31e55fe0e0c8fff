import { Fragment, type ReactNode } from "react";
import styles from "./Facts.module.css";

/** Labelled values; null and false are omitted. */
export function Facts({ facts }: { facts: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className={styles.facts}>
      {facts.map(
        ([name, value]) =>
          value !== null &&
          value !== false && (
            <Fragment key={name}>
              <dt>{name}</dt>
              <dd>{value === "" ? "–" : value}</dd>
            </Fragment>
          ),
      )}
    </dl>
  );
}
