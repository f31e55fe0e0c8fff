import {
  IconApps,
  IconChartLine,
  IconCode,
  IconDatabase,
  IconDeviceDesktop,
  IconFlask,
  IconFolder,
  IconNotebook,
  IconTerminal2,
  IconWorld,
} from "@tabler/icons-react";
import type { AppTemplate } from "@/api/types";

const ICONS = {
  app: IconApps,
  chart: IconChartLine,
  code: IconCode,
  database: IconDatabase,
  desktop: IconDeviceDesktop,
  flask: IconFlask,
  folder: IconFolder,
  globe: IconWorld,
  notebook: IconNotebook,
  terminal: IconTerminal2,
};

export type AppSymbolName = NonNullable<AppTemplate["icon"]>;

/** The icon of an app. name: of an image's label, too, which may be any text. */
export function AppSymbol({ name, size = 18 }: { name: string; size?: number }) {
  const Icon = name in ICONS ? ICONS[name as AppSymbolName] : IconApps;
  return <Icon size={size} stroke={1.6} aria-hidden style={{ flex: "none" }} />;
}
