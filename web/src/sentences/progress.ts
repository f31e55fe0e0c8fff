import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";

/** The start phases of a session. */
export const PHASES: Record<string, MessageDescriptor> = {
  pull: msg`Downloading the image.`,
  start: msg`Starting the container.`,
};
