import { loginsRemove, loginsRemoveAll } from "@/api/generated/sdk.gen";
import { useChange } from "./use-change";

/** Signs one browser of somebody out, or all of them. */
export const useEndLogins = () =>
  useChange<{ login: string } | { user: string }, unknown>(
    async (wanted) =>
      "login" in wanted
        ? (await loginsRemove({ path: { login: wanted.login } })).data
        : (await loginsRemoveAll({ query: { user: wanted.user } })).data,
    ["logins", "users"],
  );
