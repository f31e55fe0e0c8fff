import type { MouseEvent, ReactNode } from "react";
import styles from "./table.module.css";

interface Props {
  /** Address of the row alone. */
  href: string;
  /** Opens the row; in a table, the row itself does. */
  onOpen?: () => void;
  className?: string;
  title?: string;
  children: ReactNode;
}

/** The name of a row as a link: a plain click opens the row, and the browser's own ways open its address. */
export function RowLink({ href, onOpen, className, children, title }: Props) {
  const onClick = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) {
      event.stopPropagation();
      return;
    }
    event.preventDefault();
    onOpen?.();
  };
  return (
    <a href={href} title={title} className={`${styles.link} ${className ?? ""}`} onClick={onClick}>
      {children}
    </a>
  );
}
