import type { User, UserCreate, UserUpdate } from "@/api/types";

/** How a new user gets the first password. */
export type Way = "password" | "generate" | "link" | "none";

/** Form values of a user. */
export type UserValues = {
  email: string;
  name: string;
  /** Id of the domain, ids of the projects. */
  domain: string;
  projects: string[];
  role: NonNullable<UserCreate["role"]>;
  state: NonNullable<UserCreate["state"]>;
  way: Way;
  password: string;
  must_change_password: boolean;
  addresses: string[];
  description: string;
};

export const freshUser = (domain: string): UserValues => ({
  email: "",
  name: "",
  domain,
  projects: [],
  role: "user",
  state: "active",
  way: "generate",
  password: "",
  must_change_password: true,
  addresses: [],
  description: "",
});

export const userValuesOf = (user: User): UserValues => ({
  ...freshUser(user.domain.id),
  email: user.email,
  name: user.name,
  projects: user.projects.map(({ id }) => id),
  role: user.role === "project_admin" ? "user" : user.role,
  state: user.state === "purged" ? "inactive" : user.state,
  way: "none",
  must_change_password: user.must_change_password,
  addresses: user.addresses,
  description: user.description,
});

/** The request that creates a user. */
export function toCreate({ way, password, ...values }: UserValues): UserCreate {
  return {
    ...values,
    ...(way === "password" ? { password } : {}),
    ...(way === "generate" ? { generate_password: true } : {}),
    ...(way === "link" ? { link: true } : {}),
  };
}

/** The fields that changed; nothing else is sent. */
export function toUpdate(before: UserValues, now: UserValues): UserUpdate {
  const changed: Record<string, unknown> = {};
  for (const key of [
    "name",
    "description",
    "state",
    "role",
    "domain",
    "must_change_password",
    "projects",
    "addresses",
  ] as const) {
    const [one, other] = [before[key], now[key]];
    const same = Array.isArray(one) ? sameSet(one, other as string[]) : one === other;
    if (!same) changed[key] = other;
  }
  return changed;
}

function sameSet(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((value) => other.includes(value));
}
