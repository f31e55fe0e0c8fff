import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import type { ImageFamily } from "@/api/types";
import { imageFamiliesQuery } from "@/queries/images";

const REST_MS = 200;

/** Families to choose from while an image is being typed. chosen: the text is a choice already and filters nothing. */
export function useImageFamilies(text: string, chosen: boolean): ImageFamily[] {
  const [rested] = useDebouncedValue(chosen ? "" : text.trim().slice(0, 100), REST_MS);
  return useQuery(imageFamiliesQuery(rested)).data ?? [];
}
