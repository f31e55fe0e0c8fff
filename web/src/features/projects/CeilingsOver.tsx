import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { Slots } from "@/api/types";
import { OverNotice } from "@/features/policies/OverNotice";
import { domainsOverQuery } from "@/queries/domains";
import { projectsOverQuery } from "@/queries/projects";

interface Props {
  scope: "domain" | "project";
  id: string;
  /** Current form values. */
  ceilings: Slots;
  /** Whether the form is valid so far. */
  isComplete: boolean;
}

const TYPING_MS = 300;

/** Warns if current usage would exceed these ceilings. */
export function CeilingsOver({ scope, id, ceilings, isComplete }: Props) {
  const [debounced] = useDebouncedValue(JSON.stringify(ceilings), TYPING_MS);
  const tried: Slots = JSON.parse(debounced);
  const inDomain = useQuery({
    ...domainsOverQuery(id, tried),
    enabled: isComplete && scope === "domain",
    placeholderData: keepPreviousData,
  });
  const inProject = useQuery({
    ...projectsOverQuery(id, tried),
    enabled: isComplete && scope === "project",
    placeholderData: keepPreviousData,
  });
  return <OverNotice query={scope === "domain" ? inDomain : inProject} />;
}
