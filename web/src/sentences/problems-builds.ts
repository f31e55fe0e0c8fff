import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";

interface Sentences {
  detail: MessageDescriptor;
  hint?: MessageDescriptor;
}

/** Error codes of builds and pushes of environments. */
export const BUILD_PROBLEMS: Record<string, Sentences> = {
  "build.bad_context": {
    detail: msg`The files of the build are not a tar file of files and links.`,
    hint: msg`Leave out what leads outside of the directory.`,
  },
  "build.bad_dockerfile": {
    detail: msg`The Dockerfile has an instruction that cannot be built here.`,
    hint: msg`See the documentation of environments for what is supported.`,
  },
  "build.bad_ignore_file": {
    detail: msg`The .dockerignore has a rule that is no pattern, or more than 1,000 rules or 64 KiB.`,
    hint: msg`Correct the rule, or leave out whole directories by one rule.`,
  },
  "build.bad_recipe": { detail: msg`The recipe cannot be read, or asks for nothing.` },
  "build.context_not_found": {
    detail: msg`The files of the build were not found.`,
    hint: msg`Send them again.`,
  },
  "build.context_too_large": {
    detail: msg`The files of the build are too large.`,
    hint: msg`Leave out what the build does not need, and keep data in folders.`,
  },
  "build.git_failed": {
    detail: msg`The repository could not be fetched.`,
    hint: msg`Check the address, and whether the repository is public or the token or key opens it. Redirects are not followed: the address often ends in .git`,
  },
  "push.address": {
    detail: msg`The registry's host cannot be part of the name of an image.`,
    hint: msg`The address of a registry has a dot or a port.`,
  },
  "push.ended": { detail: msg`This push has ended.` },
  "push.engine_cannot": {
    detail: msg`The engine that has this version cannot push images.`,
    hint: msg`Build it again where the engine can, such as on Docker, and push that.`,
  },
  "push.name_too_long": {
    detail: msg`The name of the image is too long.`,
    hint: msg`Choose a shorter repository.`,
  },
  "push.no_registry": {
    detail: msg`There is no registry to which you may push.`,
    hint: msg`Ask whoever administers a registry of your project, or an administrator, to permit it.`,
  },
  "push.not_found": { detail: msg`There is no such push.` },
  "push.not_permitted": {
    detail: msg`Nobody may push to this registry.`,
    hint: msg`Choose another registry, or ask whoever administers it to permit it.`,
  },
  "push.registry_needed": { detail: msg`You may push to several registries: choose one.` },
  "push.repository_not_permitted": {
    detail: msg`You may not push to this repository.`,
    hint: msg`Choose a repository that matches one of those that are permitted.`,
  },
  "push.too_many": {
    detail: msg`You have too many open pushes.`,
    hint: msg`Wait until one has ended, or cancel one.`,
  },
  "push.underway": {
    detail: msg`An environment is being pushed to this name already.`,
    hint: msg`Wait until that has ended, or choose another tag.`,
  },
  "build.no_base": { detail: msg`There is no image to build on.`, hint: msg`Choose an image.` },
  "build.no_engine": {
    detail: msg`No engine that is reachable now builds images.`,
    hint: msg`Save a running session instead.`,
  },
  "build.no_directory": {
    detail: msg`The repository has no such directory.`,
    hint: msg`Name a directory as the repository has it, or none.`,
  },
  "build.no_git": {
    detail: msg`The server has no Git that it could use.`,
    hint: msg`Ask an administrator, or clone the repository yourself: carrel environment build NAME --git URL`,
  },
  "build.no_ref": {
    detail: msg`The repository has no such branch, tag or commit.`,
    hint: msg`Enter a commit in full, or a branch or tag as the repository has it.`,
  },
  "build.source_address": {
    detail: msg`The server does not fetch from this host: it has a private address.`,
    hint: msg`An administrator permits it by naming the host among the permitted sources of imports.`,
  },
  "build.too_many": {
    detail: msg`Too many of your versions are being made or are queued.`,
    hint: msg`Wait until one has ended, or cancel one.`,
  },
  "build.too_many_contexts": {
    detail: msg`Too many of your build contexts are unused.`,
    hint: msg`Build from one of them, or wait: each is deleted a day after it was sent.`,
  },
  "build.two_secrets": { detail: msg`A repository is opened by a token or by a key, not by both.` },
  "environment.not_built": { detail: msg`This version was saved from a session: it has no recipe.` },
  "environment.over_quota": {
    detail: msg`The quota of environments is used up.`,
    hint: msg`Delete versions that are no longer needed, or ask an administrator for a larger quota.`,
  },
};
