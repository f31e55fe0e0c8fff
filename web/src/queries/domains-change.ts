import { domainsCreate, domainsRemove, domainsUpdate } from "@/api/generated/sdk.gen";
import type { Domain, DomainCreate, DomainUpdate } from "@/api/types";
import { useChange } from "./use-change";

const TOUCHED = ["domains", "users", "auth"];

export const useCreateDomain = () =>
  useChange<DomainCreate, Domain>(async (body) => (await domainsCreate({ body })).data, TOUCHED);

/** Changes what is given of a domain. */
export const useUpdateDomain = () =>
  useChange<{ id: string } & DomainUpdate, Domain>(
    async ({ id, ...body }) => (await domainsUpdate({ path: { ref: id }, body })).data,
    TOUCHED,
  );

export const useRemoveDomain = () =>
  useChange<string, unknown>(async (id) => (await domainsRemove({ path: { ref: id } })).data, TOUCHED);
