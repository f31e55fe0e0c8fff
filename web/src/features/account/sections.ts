import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import {
  IconAdjustments,
  IconBell,
  IconClockHour4,
  IconDevices,
  IconFileText,
  IconFingerprint,
  IconKey,
  IconLock,
  IconShieldLock,
  IconTerminal,
  IconTicket,
  IconUser,
} from "@tabler/icons-react";

interface Section {
  to: string;
  label: MessageDescriptor;
  icon: typeof IconUser;
}

/** The settings tabs, each with its URL. */
export const SECTIONS = [
  { to: "/settings/profile", label: msg`Profile`, icon: IconUser },
  { to: "/settings/password", label: msg`Password`, icon: IconLock },
  { to: "/settings/two-factor", label: msg`Two-factor authentication`, icon: IconShieldLock },
  { to: "/settings/passkeys", label: msg`Passkeys`, icon: IconFingerprint },
  { to: "/settings/keypairs", label: msg`Keypairs`, icon: IconKey },
  { to: "/settings/tokens", label: msg`Tokens`, icon: IconTicket },
  { to: "/settings/ssh-keys", label: msg`SSH keys`, icon: IconTerminal },
  { to: "/settings/dotfiles", label: msg`Dotfiles`, icon: IconFileText },
  { to: "/settings/sign-ins", label: msg`Sign-ins`, icon: IconDevices },
  { to: "/settings/preferences", label: msg`Preferences`, icon: IconAdjustments },
  { to: "/settings/notifications", label: msg`Notifications`, icon: IconBell },
  { to: "/settings/activity", label: msg`My activity`, icon: IconClockHour4 },
] as const satisfies readonly Section[];
