import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { siteShow, siteTestMail, siteUpdate } from "@/api/generated/sdk.gen";
import type { Problem } from "@/api/problem";
import type { Site, SiteUpdate } from "@/api/types";
import { useChange } from "./use-change";

/** The settings of the installation. */
export const siteShowQuery = queryOptions({
  queryKey: ["site", "show"] as const,
  queryFn: async ({ signal }) => (await siteShow({ signal })).data,
});

/** Updates the given settings. */
export function useUpdateSite() {
  const client = useQueryClient();
  return useMutation<Site, Problem, SiteUpdate>({
    mutationFn: async (body) => (await siteUpdate({ body })).data,
    onSuccess: (site) => {
      client.setQueryData(siteShowQuery.queryKey, site);
      void client.invalidateQueries({ queryKey: ["greeting"] });
    },
  });
}

/** Sends a test e-mail, and returns the mail server's response. */
export const useTestMail = () =>
  useChange<string, { sent: boolean; error: string | null }>(
    async (to) => (await siteTestMail({ body: { to } })).data,
    ["site"],
  );
