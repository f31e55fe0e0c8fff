import { usersUpdate } from "@/api/generated/sdk.gen";
import type { UserDetail, UserUpdate } from "@/api/types";
import { useChange } from "./use-change";

/** Changes what is given of a user. */
export const useUpdateUser = () =>
  useChange<{ id: string } & UserUpdate, UserDetail>(
    async ({ id, ...body }) => (await usersUpdate({ path: { ref: id }, body })).data,
    ["users", "projects", "domains", "logins", "sessions"],
  );
