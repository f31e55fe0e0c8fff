import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { NotificationChoices, NotificationKind, WebhookDelivery } from "@/api/types";

export type Channel = NotificationChoices["started"][number];

export const NOTIFICATION_KINDS: Readonly<Record<NotificationKind, MessageDescriptor>> = {
  started: msg`A session has started`,
  ended: msg`A session has ended`,
  failed: msg`A session has failed`,
  about_to_end: msg`A session is about to be ended`,
  shared: msg`A session is shared with you`,
  device_out_of_order: msg`An accelerator is out of order`,
  device_back: msg`An accelerator is back`,
};

const KINDS = Object.keys(NOTIFICATION_KINDS) as NotificationKind[];

/** Only superadmins are told of accelerators. */
export const notificationKindsFor = (isSuper: boolean): readonly NotificationKind[] =>
  KINDS.filter((kind) => isSuper || !kind.startsWith("device_"));

export const CHANNELS: Readonly<Record<Channel, MessageDescriptor>> = {
  page: msg`Page`,
  browser: msg`Browser`,
  mail: msg`E-mail`,
  webhook: msg`Webhook`,
};

export const DELIVERY_STATES: Readonly<Record<WebhookDelivery["state"], MessageDescriptor>> = {
  pending: msg`Pending`,
  delivered: msg`Delivered`,
  failed: msg`Given up`,
};
