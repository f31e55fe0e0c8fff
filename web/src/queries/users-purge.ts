import { usersPurge } from "@/api/generated/sdk.gen";
import type { UserPurged } from "@/api/generated/types.gen";
import { useChange } from "./use-change";

interface Wanted {
  id: string;
  /** Their e-mail, as proof that they are meant. */
  confirm: string;
  /** Their live sessions end; without it a user who has some stays. */
  endSessions: boolean;
  /** What becomes of their folders; without it a user who has some stays. */
  folders: { to: string } | "delete" | null;
}

/** Deletes an inactive user for good. */
export const usePurgeUser = () =>
  useChange<Wanted, UserPurged>(
    async ({ id, confirm, endSessions, folders }) =>
      (
        await usersPurge({
          path: { ref: id },
          body: {
            confirm,
            sessions: endSessions ? "end" : null,
            delete_folders: folders === "delete",
            folders_to: folders && folders !== "delete" ? folders.to : null,
          },
        })
      ).data,
    ["users", "projects", "domains", "keypairs", "folders", "quotas"],
  );
