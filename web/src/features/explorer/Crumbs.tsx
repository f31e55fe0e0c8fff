import { useLingui } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import { Fragment } from "react";
import type { Folder } from "@/api/types";
import styles from "./Explorer.module.css";
import { shownName, stepsTo } from "./paths";
import { type DropActs, useDrop } from "./use-drop";

interface Props {
  folder: Folder;
  path: string;
  drop: DropActs;
  refusal: string | null;
}

/** The current path in a folder, with links to the parent directories. */
export function Crumbs({ folder, path, drop, refusal }: Props) {
  const { t } = useLingui();
  const steps = [{ name: folder.name, path: "" }, ...stepsTo(path)];
  return (
    <nav className={styles.crumbs} aria-label={t`Breadcrumbs`}>
      <Link to="/data" activeOptions={{ exact: true }}>
        {t`Data`}
      </Link>
      {steps.map((step) => (
        <Fragment key={step.path}>
          <span aria-hidden>/</span>
          <Crumb folder={folder.id} step={step} current={step.path === path} drop={drop} refusal={refusal} />
        </Fragment>
      ))}
    </nav>
  );
}

interface CrumbProps extends Pick<Props, "drop" | "refusal"> {
  folder: string;
  step: { name: string; path: string };
  current: boolean;
}

function Crumb({ folder, step, current, drop, refusal }: CrumbProps) {
  const { over, handlers } = useDrop(step.path, drop, refusal);
  return (
    <Link
      from="/data/$folder"
      to="/data/$folder"
      activeOptions={{ exact: true, includeSearch: true, explicitUndefined: true }}
      params={{ folder }}
      search={(now) => ({ sort: now.sort, order: now.order, path: step.path || undefined })}
      data-here={current || undefined}
      data-over={over || undefined}
      {...handlers}
    >
      {shownName(step.name)}
    </Link>
  );
}
