import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { Slots } from "@/api/types";
import { OverNotice } from "@/features/policies/OverNotice";
import { domainsOverQuery } from "@/queries/domains";
import { projectsOverQuery } from "@/queries/projects";

interface Props {
  place: "domain" | "project";
  id: string;
  /** As they are being written. */
  ceilings: Slots;
  /** What is written makes sense so far. */
  whole: boolean;
}

const TYPING_MS = 300;

/** Whether a place would be over its ceilings now, were they these. */
export function CeilingsOver({ place, id, ceilings, whole }: Props) {
  const [asked] = useDebouncedValue(JSON.stringify(ceilings), TYPING_MS);
  const tried: Slots = JSON.parse(asked);
  const inDomain = useQuery({
    ...domainsOverQuery(id, tried),
    enabled: whole && place === "domain",
    placeholderData: keepPreviousData,
  });
  const inProject = useQuery({
    ...projectsOverQuery(id, tried),
    enabled: whole && place === "project",
    placeholderData: keepPreviousData,
  });
  return <OverNotice found={place === "domain" ? inDomain : inProject} />;
}
