import type { Image } from "@/api/types";

/** Which contents each source tells: "image" for labels and environment first, then kinds of package databases. */
export function contentsBySource({ contents_from }: Pick<Image, "contents_from">) {
  const sources = [...new Set(["image", ...Object.values(contents_from)])];
  return sources
    .map((source) => ({
      source,
      names: Object.keys(contents_from).filter((name) => contents_from[name] === source),
    }))
    .filter(({ names }) => names.length > 0);
}
