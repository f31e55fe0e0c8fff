import { useComputedColorScheme } from "@mantine/core";
import { useEffect, useRef } from "react";
import { openViewer } from "./highlighting";

/** Source text with line numbers and syntax colours. */
export function SourcePreview({ name, text }: { name: string; text: string }) {
  const dark = useComputedColorScheme() === "dark";
  const parent = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!parent.current) return;
    const view = openViewer({ parent: parent.current, name, text, dark });
    return () => view.destroy();
  }, [name, text, dark]);
  return <div ref={parent} />;
}
