import { usersCreate } from "@/api/generated/sdk.gen";
import type { UserCreate, UserCreated } from "@/api/types";
import { useChange } from "./use-change";

/** Makes a user; a generated password or a link is in the answer and nowhere else. */
export const useCreateUser = () =>
  useChange<UserCreate, UserCreated>(
    async (body) => (await usersCreate({ body })).data,
    ["users", "projects", "domains"],
  );
