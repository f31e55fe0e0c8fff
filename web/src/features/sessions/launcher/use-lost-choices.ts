import type { UseFormReturnType } from "@mantine/form";
import { useEffect, useState } from "react";
import { Problem } from "@/api/problem";
import type { LaunchForm } from "./request";

/** The names of resource groups. preferred: the one that was replaced, or "". others: those that were removed. */
export interface LostGroups {
  preferred: string;
  others: string[];
}

/**
 * Replaces a project or resource group that the user cannot use, such as that of an older session or a link, and
 * removes such alternative groups.
 */
export function useLostChoices(
  error: unknown,
  { values, setFieldValue }: UseFormReturnType<LaunchForm>,
  project: string,
): LostGroups {
  const [lost, setLost] = useState<LostGroups>({ preferred: "", others: [] });
  useEffect(() => {
    const { code, field } = error instanceof Problem ? error : { code: "", field: null };
    if (code === "group.not_found" && field === "alternative_groups") {
      const others = lostAmong(values.alternative_groups, error);
      if (others.length === 0) return;
      setLost((before) => ({ ...before, others: [...new Set([...before.others, ...others])] }));
      setFieldValue(
        field,
        values.alternative_groups.filter((name) => !others.includes(name)),
      );
    } else if (code === "group.not_found" && values.group) {
      setLost((before) => ({ ...before, preferred: values.group }));
      setFieldValue("group", "");
      setFieldValue("node", "");
    }
    if (code === "project.not_found" && values.project !== project) setFieldValue("project", project);
  }, [error, values.group, values.alternative_groups, values.project, project, setFieldValue]);
  return {
    preferred: values.group ? "" : lost.preferred,
    others: lost.others.filter((name) => !values.alternative_groups.includes(name)),
  };
}

/** Those of the groups that the user cannot use, by the error about one of them. */
function lostAmong(names: string[], error: unknown): string[] {
  const usable = error instanceof Problem && error.details.groups;
  if (!Array.isArray(usable)) return names;
  const known = usable.map((name) => String(name).toLowerCase());
  return names.filter((name) => !known.includes(name.toLowerCase()));
}
