import { factorsReset } from "@/api/generated/sdk.gen";
import { useChange } from "./use-change";

/** Takes all second factors from somebody; they are signed out everywhere. */
export const useResetFactors = () =>
  useChange<string, unknown>(
    async (ref) => (await factorsReset({ path: { ref } })).data,
    ["users", "logins"],
  );
