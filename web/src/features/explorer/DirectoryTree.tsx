import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, UnstyledButton } from "@mantine/core";
import { IconChevronDown, IconChevronRight, IconFolder } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { directoriesQuery } from "@/queries/files";
import styles from "./Explorer.module.css";
import { isWithin, join, shownName } from "./paths";
import { type DropActs, useDrop } from "./use-drop";

interface Props {
  folder: string;
  /** Name of the folder. */
  name: string;
  /** Path of the current directory. */
  current: string;
  onChoose: (path: string) => void;
  /** If absent, nothing can be dropped here. */
  drop?: { acts: DropActs; refusal: string | null };
}

/** The directory tree of a folder; children load when expanded. */
export function DirectoryTree(props: Props) {
  return (
    <ul className={styles.tree}>
      <Branch {...props} path="" label={props.name} />
    </ul>
  );
}

const NOWHERE: DropActs = { onFiles: () => undefined, onDesktop: () => undefined };

function Branch({ path, label, ...props }: Props & { path: string; label: string }) {
  const { t } = useLingui();
  const { folder, current, onChoose, drop } = props;
  const [opened, setOpened] = useState(path === "");
  const shown = path === current;
  // Expand the path to the current directory.
  useEffect(() => {
    if (isWithin(current, path) && current !== path) setOpened(true);
  }, [current, path]);
  const list = useInfiniteQuery({ ...directoriesQuery(folder, path), enabled: opened });
  const children = (list.data?.pages ?? []).flatMap((page) => page.items);
  const leaf = list.data !== undefined && children.length === 0;
  const { over, handlers } = useDrop(path, drop?.acts ?? NOWHERE, drop ? drop.refusal : "");
  const Fold = opened ? IconChevronDown : IconChevronRight;
  return (
    <li>
      <div
        className={styles.branch}
        data-shown={shown || undefined}
        data-over={over || undefined}
        {...handlers}
      >
        <ActionIcon
          variant="transparent"
          color="gray"
          size="sm"
          style={{ visibility: leaf ? "hidden" : undefined }}
          aria-expanded={opened}
          aria-label={opened ? t`Collapse ${label}` : t`Expand ${label}`}
          onClick={() => setOpened(!opened)}
        >
          <Fold size={14} aria-hidden />
        </ActionIcon>
        <UnstyledButton
          className={styles.branchName}
          aria-current={shown || undefined}
          onClick={() => onChoose(path)}
          title={label}
        >
          <IconFolder size={15} stroke={1.6} aria-hidden />
          <span>{label}</span>
        </UnstyledButton>
      </div>
      {opened && !leaf && (
        <ul>
          {children.map((entry) =>
            entry.readable ? (
              <Branch
                key={entry.name}
                {...props}
                path={join(path, entry.name)}
                label={shownName(entry.name)}
              />
            ) : null,
          )}
          {list.hasNextPage && (
            <li>
              <UnstyledButton className={styles.branchMore} onClick={() => void list.fetchNextPage()}>
                <Trans>More…</Trans>
              </UnstyledButton>
            </li>
          )}
        </ul>
      )}
    </li>
  );
}
