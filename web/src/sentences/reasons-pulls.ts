import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";

/** Why an image cannot be pulled. */
export const PULL_REASONS: readonly [sentence: RegExp, message: (words: string[]) => MessageDescriptor][] = [
  [
    /^There is no image named (\S+) in its registry \((\S+)\)\.$/,
    ([image = "", registry = ""]) => msg`There is no image named ${image} in its registry (${registry}).`,
  ],
  [
    /^The registry (\S+) has no image named (\S+), or does not let this installation pull it\.$/,
    ([registry = "", image = ""]) =>
      msg`The registry ${registry} has no image named ${image}, or does not let this installation pull it.`,
  ],
  [
    /^The registry (\S+) refuses more pulls for now \(rate limit\)\.$/,
    ([registry = ""]) => msg`The registry ${registry} refuses more pulls for now (rate limit).`,
  ],
  [
    /^The disk is full: the image (\S+) does not fit\.$/,
    ([image = ""]) => msg`The disk is full: the image ${image} does not fit.`,
  ],
  [
    /^No registry answered for the image (\S+): this machine cannot reach (\S+)\.$/,
    ([image = "", registry = ""]) =>
      msg`No registry answered for the image ${image}: this machine cannot reach ${registry}.`,
  ],
  [
    /^Check the name, or load the image into the engine by hand\.$/,
    () => msg`Check the name, or load the image into the engine by hand.`,
  ],
  [
    /^The image (\S+) could not be pulled: ((?:(?!\. [A-Z]).)+)\.$/,
    ([image = "", why = ""]) => msg`The image ${image} could not be pulled: ${why}.`,
  ],
];
