import type { Registry, RegistryCreate, RegistryUpdate } from "@/api/types";
import { commandLine } from "@/ui/command";
import type { ScopeValue } from "./ScopeSelect";

/** The values of the form. secret "": unchanged. */
export type RegistryValues = {
  name: string;
  kind: Registry["kind"];
  url: string;
  namespace: string;
  username: string;
  secret: string;
  ca_pem: string;
  mirror: string;
  repositories: string[];
  tags: string[];
  images_enabled: boolean;
  push: Registry["push"];
  push_repositories: string[];
  read_packages: boolean;
  scope: ScopeValue | "";
};

const TEXTS = ["name", "url", "namespace", "username", "ca_pem", "mirror"] as const;
const LISTS = ["repositories", "tags", "push_repositories"] as const;

export function valuesOf(registry: Registry | undefined, scope: ScopeValue | ""): RegistryValues {
  return {
    name: registry?.name ?? "",
    kind: registry?.kind ?? "generic",
    url: registry?.url ?? "",
    namespace: registry?.namespace ?? "",
    username: registry?.username ?? "",
    secret: "",
    ca_pem: registry?.ca_pem ?? "",
    mirror: registry?.mirror ?? "",
    repositories: registry?.repositories ?? [],
    tags: registry?.tags ?? [],
    images_enabled: registry?.images_enabled ?? true,
    push: registry?.push ?? "nobody",
    push_repositories: registry?.push_repositories ?? [],
    read_packages: registry?.read_packages ?? false,
    scope,
  };
}

/** The request that adds a registry. */
export function created({ scope, ...values }: RegistryValues): RegistryCreate {
  const [kind, id] = scope.split(":");
  return {
    ...values,
    url: values.url || null,
    mirror: values.mirror || null,
    ...(id ? { [kind === "domain" ? "domain" : "project"]: id } : {}),
  };
}

/** The fields that differ from the registry's. */
export function changed(registry: Registry, values: RegistryValues): RegistryUpdate {
  const same = (one: readonly string[], other: readonly string[]) => one.join("\n") === other.join("\n");
  return {
    ...Object.fromEntries(
      TEXTS.filter((key) => values[key].trim() !== registry[key]).map((key) => [key, values[key]]),
    ),
    ...Object.fromEntries(
      LISTS.filter((key) => !same(values[key], registry[key])).map((key) => [key, values[key]]),
    ),
    ...(values.secret ? { secret: values.secret } : {}),
    ...(values.push === registry.push ? {} : { push: values.push }),
    ...(values.images_enabled === registry.images_enabled ? {} : { images_enabled: values.images_enabled }),
    ...(values.read_packages === registry.read_packages ? {} : { read_packages: values.read_packages }),
  };
}

/** The CLI command of the form. */
export function registryCommand(registry: Registry | undefined, values: RegistryValues): string {
  const given: Omit<RegistryUpdate, "url"> & Pick<RegistryCreate, "url"> = registry
    ? changed(registry, values)
    : created(values);
  const text = (option: string, value: string | null | undefined) =>
    value === undefined || value === null || (!registry && !value) ? [] : [option, value];
  const list = (option: string, globs: string[] | undefined) =>
    globs === undefined
      ? []
      : globs.length || !registry
        ? globs.flatMap((glob) => [option, glob])
        : [option, ""];
  const [kind, id] = registry ? [] : values.scope.split(":");
  return commandLine(
    "carrel",
    "registry",
    registry ? "set" : "add",
    registry?.name ?? (values.name || "ours"),
    ...(registry ? text("--name", given.name) : ["--kind", values.kind]),
    ...text("--url", given.url),
    ...text("--namespace", given.namespace),
    ...text("--username", given.username),
    ...(values.secret ? ["--secret-file", "-"] : []),
    ...(given.ca_pem === undefined || (!registry && !given.ca_pem)
      ? []
      : ["--ca-file", given.ca_pem && "ca.pem"]),
    ...text("--mirror", given.mirror),
    ...list("--repository", given.repositories),
    ...list("--tag", given.tags),
    ...(given.images_enabled === undefined || (!registry && given.images_enabled)
      ? []
      : [given.images_enabled ? "--enable-images" : "--disable-images"]),
    ...(given.push === undefined || (!registry && given.push === "nobody") ? [] : ["--push", given.push]),
    ...list("--push-repository", given.push_repositories),
    ...(given.read_packages === undefined || (!registry && !given.read_packages)
      ? []
      : [given.read_packages ? "--read-packages" : "--no-read-packages"]),
    ...(id ? [`--${kind}`, id] : []),
  );
}
