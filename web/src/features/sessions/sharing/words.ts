import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { AccessLevel } from "@/api/types";

/** What a share permits. `mine`: about a session that is shared with the user. */
export const ACCESS_LEVELS: Record<
  AccessLevel,
  { title: MessageDescriptor; text: MessageDescriptor; mine: MessageDescriptor }
> = {
  look: {
    title: msg`Look`,
    text: msg`See its details, log, usage and history.`,
    mine: msg`Shared with you to look at`,
  },
  use: {
    title: msg`Use`,
    text: msg`Also open its apps and terminals and run commands, with your folders in it.`,
    mine: msg`Shared with you to use`,
  },
};

export const LEVEL_ORDER: readonly AccessLevel[] = ["look", "use"];
