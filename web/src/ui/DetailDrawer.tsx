import { useLingui } from "@lingui/react/macro";
import { CloseButton, Drawer, Portal, Skeleton } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { Fragment, type ReactNode, type Ref, useCallback, useEffect, useId, useRef, useState } from "react";
import { createPortal } from "react-dom";
import styles from "./DetailDrawer.module.css";
import { DOCK } from "./dock";
import { useGuardedClose } from "./form/FormDrawer";
import { UnsavedInput } from "./form/unsaved-input";
import { ProblemAlert } from "./ProblemAlert";
import { useEscape } from "./use-escape";

const WIDE = "(min-width: 75em)";

interface ContentProps {
  /** The shown item; another one replaces the content. */
  id: string;
  /** State of the item, below the title. */
  state?: ReactNode;
  /** Buttons, below the state. */
  actions?: ReactNode;
  /** The query of the item: shows a skeleton, or its error. */
  query?: { isPending: boolean; isError: boolean; error: unknown; refetch: () => unknown };
  children: ReactNode;
}

interface Props extends ContentProps {
  opened: boolean;
  title: string;
  /** Width of the modal drawer. */
  size?: "lg" | "xl";
  /** The content fills the height. */
  fill?: boolean;
  onClose: () => void;
}

/**
 * Details of an item of a list: docked beside the list in wide windows, else a modal drawer.
 *
 * Asks before unsaved input of its forms is lost, also when another item replaces it.
 */
export function DetailDrawer({ opened, onClose, size = "xl", title, fill = false, ...content }: Props) {
  const { t } = useLingui();
  const docked = useMediaQuery(WIDE, undefined, { getInitialValueInEffect: false });
  const leave = () => {
    if (document.activeElement?.closest(`#${DOCK}`)) focusRow();
    onClose();
  };
  const { watch, close } = useGuardedClose(leave, { switches: true });
  const { place, shown, host } = useMovable(opened);
  return (
    <>
      {shown &&
        createPortal(
          <UnsavedInput value={watch}>
            <Content {...content} />
          </UnsavedInput>,
          host,
        )}
      {docked ? (
        opened && (
          <Portal target={`#${DOCK}`}>
            <Panel ref={place} title={title} fill={fill} onClose={close} />
          </Portal>
        )
      ) : (
        <Drawer
          opened={opened}
          onClose={close}
          size={size}
          title={title}
          closeButtonProps={{ "aria-label": t`Close` }}
          classNames={{
            title: styles.title,
            content: fill ? styles.column : undefined,
            body: fill ? styles.fill : undefined,
          }}
          // The content is not a child of the drawer, which would not let it scroll.
          removeScrollProps={{ noIsolation: true }}
        >
          <div ref={place} className={styles.place} />
        </Drawer>
      )}
    </>
  );
}

/**
 * An element that moves between places with its state: its children stay mounted when a window gets wider or narrower.
 *
 * Returns: the element, the ref of its place, and whether it is shown, also during the closing animation.
 */
function useMovable(opened: boolean) {
  const [host] = useState(() => {
    const element = document.createElement("div");
    element.className = styles.place ?? "";
    return element;
  });
  const [shown, setShown] = useState(false);
  const latest = useRef(opened);
  latest.current = opened;
  const place = useCallback(
    (parent: HTMLElement | null) => {
      parent?.append(host);
      // While it is open, another place follows.
      setShown(parent !== null || latest.current);
    },
    [host],
  );
  return { host, place, shown };
}

/** Focuses the row of the shown item. */
const focusRow = () => document.querySelector<HTMLElement>("tr[data-opened]")?.focus();

function Content({ id, state, actions, query, children }: ContentProps) {
  return (
    <Fragment key={id}>
      {state && <div className={styles.state}>{state}</div>}
      {actions && <div className={styles.actions}>{actions}</div>}
      {query?.isPending && <Skeleton height={240} aria-busy />}
      {query?.isError && <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />}
      {children}
    </Fragment>
  );
}

interface PanelProps {
  /** The place of the content. */
  ref: Ref<HTMLDivElement>;
  title: string;
  fill: boolean;
  onClose: () => void;
}

/** A non-modal dialog beside the list. */
function Panel({ ref, title, fill, onClose }: PanelProps) {
  const { t } = useLingui();
  const panel = useRef<HTMLDivElement>(null);
  const titleId = useId();
  useEffect(() => {
    // The page first notes the focused row, to return there.
    const frame = requestAnimationFrame(() => panel.current?.focus({ preventScroll: true }));
    return () => cancelAnimationFrame(frame);
  }, []);
  useEscape(panel, onClose);
  return (
    <div ref={panel} role="dialog" tabIndex={-1} aria-labelledby={titleId} className={styles.panel}>
      <div className={styles.head}>
        <h2 id={titleId} className={styles.title}>
          {title}
        </h2>
        <CloseButton aria-label={t`Close`} onClick={onClose} />
      </div>
      <div ref={ref} className={fill ? `${styles.body} ${styles.fill}` : styles.body} />
    </div>
  );
}
