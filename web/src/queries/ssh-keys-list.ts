import { queryOptions } from "@tanstack/react-query";
import { sshKeysList } from "@/api/generated/sdk.gen";

/** The person's SSH keys, newest first. */
export const sshKeysListQuery = queryOptions({
  queryKey: ["ssh-keys", "list"] as const,
  queryFn: async ({ signal }) => (await sshKeysList({ signal })).data.items,
});
