import type { UseFormReturnType } from "@mantine/form";
import { useEffect, useState } from "react";
import { Problem } from "@/api/problem";
import type { LaunchForm } from "./request";

/**
 * Replaces a project or resource group that the user cannot use, such as that of an older session or a link.
 *
 * Returns: the name of the group that was replaced, or "".
 */
export function useLostChoices(
  error: unknown,
  { values, setFieldValue }: UseFormReturnType<LaunchForm>,
  project: string,
): string {
  const [lost, setLost] = useState("");
  const { code, field } = error instanceof Problem ? error : { code: "", field: null };
  useEffect(() => {
    if (code === "group.not_found" && field === "alternative_groups") setFieldValue(field, []);
    else if (code === "group.not_found" && values.group) {
      setLost(values.group);
      setFieldValue("group", "");
      setFieldValue("node", "");
    }
    if (code === "project.not_found" && values.project !== project) setFieldValue("project", project);
  }, [code, field, values.group, values.project, project, setFieldValue]);
  return values.group ? "" : lost;
}
