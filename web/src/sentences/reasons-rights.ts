import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";

/** Reasons about rights inside sessions. */
export const RIGHTS_REASONS: readonly [sentence: RegExp, message: (words: string[]) => MessageDescriptor][] =
  [
    [
      /^The resource policy of its owner no longer allows root in a session\.$/,
      () => msg`The resource policy of its owner no longer allows root in a session.`,
    ],
    [
      /^The resource policy of its project no longer allows root in a session\.$/,
      () => msg`The resource policy of its project no longer allows root in a session.`,
    ],
    [
      /^Your resource policy does not allow root in a session\.$/,
      () => msg`Your resource policy does not allow root in a session.`,
    ],
    [
      /^The resource policy of the project does not allow root in a session\.$/,
      () => msg`The resource policy of the project does not allow root in a session.`,
    ],
    [
      /^The resource group does not allow root in a session\.$/,
      () => msg`The resource group does not allow root in a session.`,
    ],
    [
      /^The engine of no node of the resource group can give root in a session\.$/,
      () => msg`The engine of no node of the resource group can give root in a session.`,
    ],
  ];
