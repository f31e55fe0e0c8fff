import { TextInput, type TextInputProps } from "@mantine/core";
import { useState } from "react";
import { readSize, sizeWord } from "@/ui/format";

interface Props extends Omit<TextInputProps, "value" | "onChange"> {
  /** null: empty, so the placeholder applies. */
  bytes: number | null;
  onChange: (bytes: number) => void;
  /** Called when the field is cleared; without it, empty counts as zero. */
  onClear?: () => void;
}

/** A size in the unit that fits it. Another unit can be typed: "512m", "64 MiB"; nothing but a size can be. */
export function SizeInput({ bytes, onChange, onClear, ...rest }: Props) {
  const shown = bytes === null || rest.disabled ? "" : sizeWord(bytes);
  /** What is typed, and the unit of a number without one. */
  const [draft, setDraft] = useState<{ text: string; unit: string } | null>(null);
  return (
    <TextInput
      size="xs"
      autoComplete="off"
      spellCheck={false}
      {...rest}
      value={draft?.text ?? shown}
      onChange={({ currentTarget: { value: text } }) => {
        const unit = draft?.unit ?? (bytes ? unitOf(shown) : "GiB");
        const size = readSize(text, unit);
        if (size === null) return;
        setDraft({ text, unit });
        if (text.trim() === "" && onClear) onClear();
        else onChange(size);
      }}
      onBlur={() => setDraft(null)}
    />
  );
}

const unitOf = (word: string): string => word.split(" ")[1] ?? "GiB";
