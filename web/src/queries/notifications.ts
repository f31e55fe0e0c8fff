import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import {
  notificationsShow,
  notificationsUpdate,
  webhooksCreate,
  webhooksDeliveries,
  webhooksList,
  webhooksRedeliver,
  webhooksRemove,
  webhooksRotate,
  webhooksTest,
  webhooksUpdate,
} from "@/api/generated/sdk.gen";
import type { Problem } from "@/api/problem";
import type {
  NotificationChoices,
  NotificationUpdate,
  SecretRotate,
  WebhookCreate,
  WebhookUpdate,
} from "@/api/types";
import { useChange } from "./use-change";

const PENDING_MS = 2_000;

/** Whose webhooks: one's own, or those of a project or domain. */
export interface WebhookOwner {
  project?: string;
  domain?: string;
}

/** The channels of each kind of notification of the current user. */
export const notificationsShowQuery = queryOptions({
  queryKey: ["notifications", "show"] as const,
  queryFn: async ({ signal }) => (await notificationsShow({ signal })).data,
  staleTime: 60_000,
});

/** Replaces the channels of the given kinds. */
export function useChooseNotifications() {
  const client = useQueryClient();
  const { queryKey } = notificationsShowQuery;
  return useMutation<NotificationChoices, Problem, NotificationUpdate>({
    mutationFn: async (body) => (await notificationsUpdate({ body })).data,
    onSuccess: (chosen) => client.setQueryData(queryKey, chosen),
    onError: () => client.invalidateQueries({ queryKey }),
  });
}

/** Webhooks by name. */
export const webhooksListQuery = (owner: WebhookOwner) =>
  queryOptions({
    queryKey: ["webhooks", "list", owner] as const,
    queryFn: async ({ signal }) => (await webhooksList({ query: owner, signal })).data.items,
  });

/** The latest deliveries of a webhook, refreshed while one is pending. */
export const webhookDeliveriesQuery = (webhook: string) =>
  queryOptions({
    queryKey: ["webhooks", "deliveries", webhook] as const,
    queryFn: async ({ signal }) =>
      (await webhooksDeliveries({ path: { webhook }, query: { limit: 50 }, signal })).data.items,
    refetchInterval: ({ state }) =>
      state.data?.some(({ state: delivery }) => delivery === "pending") ? PENDING_MS : false,
  });

const TOUCHED = ["webhooks"] as const;

/** Adds a webhook; only this response contains its secret. */
export const useCreateWebhook = () =>
  useChange(async (body: WebhookCreate) => (await webhooksCreate({ body })).data, TOUCHED);

export const useUpdateWebhook = () =>
  useChange(
    async ({ webhook, ...body }: WebhookUpdate & { webhook: string }) =>
      (await webhooksUpdate({ path: { webhook }, body })).data,
    TOUCHED,
  );

/** Replaces the secret of a webhook; only this response contains the new one. */
export const useRotateWebhook = () =>
  useChange(
    async ({ webhook, ...body }: SecretRotate & { webhook: string }) =>
      (await webhooksRotate({ path: { webhook }, body })).data,
    TOUCHED,
  );

export const useRemoveWebhook = () =>
  useChange(async (webhook: string) => {
    await webhooksRemove({ path: { webhook } });
  }, TOUCHED);

export const useTestWebhook = () =>
  useChange(async (webhook: string) => (await webhooksTest({ path: { webhook } })).data, TOUCHED);

export const useRedeliver = () =>
  useChange(
    async (path: { webhook: string; delivery: string }) => (await webhooksRedeliver({ path })).data,
    TOUCHED,
  );
