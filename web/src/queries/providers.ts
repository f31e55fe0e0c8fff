import { queryOptions } from "@tanstack/react-query";
import {
  providerKindsList,
  providersCreate,
  providersList,
  providersRemove,
  providersTest,
  providersUpdate,
} from "@/api/generated/sdk.gen";
import type { Provider, ProviderCreate, ProviderTestResult, ProviderUpdate } from "@/api/types";
import { useChange } from "./use-change";

/** The identity providers, without their secrets. */
export const providersListQuery = queryOptions({
  queryKey: ["providers", "list"] as const,
  queryFn: async ({ signal }) => (await providersList({ signal })).data.items,
});

/** The available identity provider kinds, with their settings schemas. */
export const providerKindsQuery = queryOptions({
  queryKey: ["provider-kinds"] as const,
  queryFn: async ({ signal }) => (await providerKindsList({ signal })).data.items,
  staleTime: Number.POSITIVE_INFINITY,
});

const TOUCHED = ["providers", "greeting"];

export const useCreateProvider = () =>
  useChange<ProviderCreate, Provider>(async (body) => (await providersCreate({ body })).data, TOUCHED);

/** Updates the given fields of a provider. */
export const useUpdateProvider = () =>
  useChange<{ id: string } & ProviderUpdate, Provider>(
    async ({ id, ...body }) => (await providersUpdate({ path: { ref: id }, body })).data,
    TOUCHED,
  );

export const useRemoveProvider = () =>
  useChange<string, unknown>(async (id) => (await providersRemove({ path: { ref: id } })).data, TOUCHED);

/** Tests a provider, step by step. `login`: a user to look up in a directory. */
export const useTestProvider = () =>
  useChange<{ id: string; login: string }, ProviderTestResult>(
    async ({ id, login }) =>
      (await providersTest({ path: { ref: id }, body: { login: login || null } })).data,
    [],
  );
