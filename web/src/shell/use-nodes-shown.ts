import { useQuery } from "@tanstack/react-query";
import { nodesShownQuery } from "@/queries/nodes-list";
import { may } from "./may";
import { useMe } from "./use-me";

/** Whether the person has a page of nodes to look at: those who administer nodes have a better one. */
export function useNodesShown(): boolean {
  const administers = may(useMe(), "node.update");
  return useQuery({ ...nodesShownQuery, enabled: !administers, staleTime: 300_000 }).isSuccess;
}
