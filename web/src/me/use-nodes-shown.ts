import { may } from "./may";
import { useMe } from "./use-me";

/** Whether the user has the read-only node page; node administrators have a better one. */
export function useNodesShown(): boolean {
  const me = useMe();
  return may(me, "node.read") && !may(me, "node.update");
}
