import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { Image, ImageState } from "@/api/types";
import type { StateLook } from "@/ui/state-looks";

export const IMAGE_STATES: Record<ImageState, { title: MessageDescriptor; look: StateLook }> = {
  enabled: { title: msg`enabled`, look: "ok" },
  disabled: { title: msg`disabled`, look: "off" },
  hidden: { title: msg`hidden`, look: "off" },
  deprecated: { title: msg`deprecated`, look: "waiting" },
  limited: { title: msg`limited`, look: "scheduled" },
};

/** The state of an image that matters most to users. */
export function imageState(image: Pick<Image, "enabled" | "deprecated" | "hidden">): ImageState {
  if (!image.enabled) return "disabled";
  if (image.deprecated) return "deprecated";
  return image.hidden ? "hidden" : "enabled";
}
