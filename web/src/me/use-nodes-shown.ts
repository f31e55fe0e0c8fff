import { may } from "./may";
import { useMe } from "./use-me";

/** Whether the person has a page of nodes to look at: those who administer nodes have a better one. */
export function useNodesShown(): boolean {
  const me = useMe();
  return may(me, "node.read") && !may(me, "node.update");
}
