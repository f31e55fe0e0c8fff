import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { Image, ImageState, ImageWatch } from "@/api/types";
import type { StateLook } from "@/ui/state-looks";

export const IMAGE_STATES: Record<ImageState, { title: MessageDescriptor; look: StateLook }> = {
  enabled: { title: msg`enabled`, look: "ok" },
  disabled: { title: msg`disabled`, look: "off" },
  hidden: { title: msg`hidden`, look: "off" },
  deprecated: { title: msg`deprecated`, look: "waiting" },
  limited: { title: msg`limited`, look: "scheduled" },
  watched: { title: msg`watched for updates`, look: "ok" },
  update: { title: msg`update available`, look: "waiting" },
};

/** The state of an image that matters most to users. */
export function imageState(image: Pick<Image, "enabled" | "deprecated" | "hidden">): ImageState {
  if (!image.enabled) return "disabled";
  if (image.deprecated) return "deprecated";
  return image.hidden ? "hidden" : "enabled";
}

export const WATCH_STATES: Record<ImageWatch["state"], { title: MessageDescriptor; look: StateLook }> = {
  unchecked: { title: msg`not checked yet`, look: "waiting" },
  current: { title: msg`up to date`, look: "ok" },
  available: { title: msg`update available`, look: "waiting" },
  taking: { title: msg`taking an update`, look: "working" },
  skipped: { title: msg`update skipped`, look: "off" },
  missing: { title: msg`tag is gone`, look: "warning" },
  failed: { title: msg`check failed`, look: "failed" },
};

export const WATCH_RULES: Record<ImageWatch["rule"], MessageDescriptor> = {
  off: msg`Not watched`,
  offer: msg`Offer updates to administrators`,
  take: msg`Take updates in the daily hours`,
};
