import { Autocomplete, type AutocompleteProps } from "@mantine/core";
import { useState } from "react";
import { useImageFamilies } from "./use-image-families";

type Props = Omit<AutocompleteProps, "data" | "filter"> & { value: string };

/** An image by its name or reference, with suggestions from the catalogue. */
export function ImageField({ value, onChange, ...props }: Props) {
  const [typed, setTyped] = useState(false);
  const families = useImageFamilies(value, !typed);
  return (
    <Autocomplete
      spellCheck={false}
      comboboxProps={{ shadow: "md" }}
      {...props}
      data={families.map((family) => family.default.name)}
      filter={({ options }) => options}
      value={value}
      onChange={(text) => {
        setTyped(!families.some((family) => family.default.name === text));
        onChange?.(text);
      }}
    />
  );
}
