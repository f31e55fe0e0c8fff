import { keypairsRemove, keypairsUpdate } from "@/api/generated/sdk.gen";
import type { KeypairsUpdateData } from "@/api/generated/types.gen";
import type { Keypair } from "@/api/types";
import { useChange } from "./use-change";

/** Changes what is given of a keypair. */
export const useUpdateKeypair = () =>
  useChange<{ key: string } & KeypairsUpdateData["body"], Keypair>(
    async ({ key, ...body }) => (await keypairsUpdate({ path: { access_key: key }, body })).data,
    ["keypairs"],
  );

/** Deletes somebody's keypair. */
export const useDeleteKeypair = () =>
  useChange<string, unknown>(
    async (key) => (await keypairsRemove({ path: { access_key: key } })).data,
    ["keypairs", "users"],
  );
