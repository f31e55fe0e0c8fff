import { useHotkeys } from "@mantine/hooks";
import { Suspense, useState } from "react";
import type { Me } from "@/api/types";
import { part } from "@/routing/part";
import { palette, usePaletteOpened } from "./store";

const PaletteDialog = part(() => import("./PaletteDialog").then((m) => m.PaletteDialog));

/** The command palette: Ctrl+K or Cmd+K. */
export function Palette({ me }: { me: Me }) {
  const opened = usePaletteOpened();
  const [used, setUsed] = useState(opened);
  if (opened && !used) setUsed(true);
  useHotkeys([["mod+K", palette.open]]);
  // Stays after it closes: what was chosen may still be under way.
  return <Suspense fallback={null}>{used && <PaletteDialog me={me} opened={opened} />}</Suspense>;
}
