import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { Registry, RegistryScan } from "@/api/types";
import type { StateLook } from "@/ui/state-looks";

interface RegistryKindWords {
  title: string;
  url?: string;
  username?: string;
  /** What lists private repositories. */
  secret?: MessageDescriptor;
  /** What lists them and pushes too. */
  pushSecret?: MessageDescriptor;
}

/** Product names, which are the same in every language, and the address that needs not be given. */
export const REGISTRY_KINDS: Record<Registry["kind"], RegistryKindWords> = {
  generic: { title: "OCI" },
  dockerhub: {
    title: "Docker Hub",
    url: "https://registry-1.docker.io",
    secret: msg`The password of the account, or an access token.`,
    pushSecret: msg`The password of the account, or an access token that may read and write.`,
  },
  harbor: {
    title: "Harbor",
    secret: msg`Of a robot account that may list and pull repositories.`,
    pushSecret: msg`Of a robot account that may list, pull and push repositories.`,
  },
  ghcr: {
    title: "GitHub (GHCR)",
    url: "https://ghcr.io",
    secret: msg`A classic token with read:packages. Any user name.`,
    pushSecret: msg`A classic token with write:packages. Any user name.`,
  },
  gitlab: {
    title: "GitLab",
    url: "https://registry.gitlab.com",
    secret: msg`An access token with read_api and read_registry. A deploy token cannot list repositories.`,
    pushSecret: msg`An access token with read_api, read_registry and write_registry. A deploy token cannot list repositories.`,
  },
  ngc: { title: "NVIDIA NGC", url: "https://nvcr.io", username: "$oauthtoken" },
  ecr: { title: "Amazon ECR", username: "AWS" },
  quay: {
    title: "Quay",
    url: "https://quay.io",
    username: "$oauthtoken",
    secret: msg`An OAuth token for the user name $oauthtoken. A robot account cannot list private repositories.`,
    pushSecret: msg`An OAuth token with repo:write for the user name $oauthtoken. A robot account cannot list private repositories.`,
  },
};

export const CHECK_STEPS: Record<string, MessageDescriptor> = {
  password: msg`Password`,
  connection: msg`Connection`,
  repositories: msg`Repositories`,
  tags: msg`Tags`,
  manifest: msg`Manifest`,
};

export const SCAN_STATES: Record<RegistryScan["state"], { title: MessageDescriptor; look: StateLook }> = {
  waiting: { title: msg`waiting`, look: "waiting" },
  running: { title: msg`running`, look: "working" },
  done: { title: msg`done`, look: "ok" },
  failed: { title: msg`failed`, look: "failed" },
  cancelled: { title: msg`cancelled`, look: "cancelled" },
};
