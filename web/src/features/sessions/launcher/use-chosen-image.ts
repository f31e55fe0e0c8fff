import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import type { Image } from "@/api/types";
import { imageNamedQuery } from "@/queries/images";

/** Debounce time of typing. */
const REST_MS = 250;

/** The image of the catalogue that the text means; null: none; undefined: not known yet. */
export function useChosenImage(text: string, images: readonly Image[] = []): Image | null | undefined {
  const name = text.trim();
  const [rested] = useDebouncedValue(name, REST_MS);
  const listed = images.find((image) => image.name === name || image.reference === name);
  const asked = rested !== "" && rested === name && !name.startsWith("env:") && !listed;
  const query = useQuery({ ...imageNamedQuery(rested), enabled: asked });
  if (listed) return listed;
  return name === "" || name.startsWith("env:") ? null : asked ? query.data : undefined;
}
