import { queryOptions } from "@tanstack/react-query";
import { loginsList } from "@/api/generated/sdk.gen";
import { everyPage } from "./every-page";

/** Where somebody is signed in. */
export function loginsOfQuery(user: string) {
  return queryOptions({
    queryKey: ["logins", "of", user] as const,
    queryFn: ({ signal }) =>
      everyPage((cursor) => loginsList({ query: { user, limit: 200, cursor }, signal })),
  });
}
