import { useLingui } from "@lingui/react/macro";
import { TextInput } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import type { FileEntry } from "@/api/types";
import { useUnsavedGuard } from "@/ui/form/use-unsaved-guard";
import { extensionOf, nameFault } from "./paths";
import type { FileActs } from "./use-file-acts";
import { useNameFault } from "./use-name-fault";

/** Inline rename: Enter saves, Escape cancels. */
export function RenameCell({
  entry,
  acts,
  onDone,
}: {
  entry: FileEntry;
  acts: FileActs;
  onDone: () => void;
}) {
  const { t } = useLingui();
  const input = useRef<HTMLInputElement>(null);
  const [name, setName] = useState(entry.name);
  const [busy, setBusy] = useState(false);
  const fault = useNameFault()(name);
  useUnsavedGuard({ unsaved: () => name !== entry.name && !busy, onBack: true, onSwitch: true });
  useEffect(() => {
    const extension = entry.kind === "file" ? extensionOf(entry.name) : "";
    input.current?.focus();
    input.current?.setSelectionRange(0, entry.name.length - (extension ? extension.length + 1 : 0));
  }, [entry.kind, entry.name]);
  const save = async () => {
    if (nameFault(name)) return;
    if (name === entry.name) return onDone();
    setBusy(true);
    const done = await acts.rename(entry, name);
    setBusy(false);
    if (done) onDone();
    else input.current?.focus();
  };
  return (
    <TextInput
      ref={input}
      size="xs"
      style={{ flex: 1 }}
      aria-label={t`New name of ${entry.name}`}
      spellCheck={false}
      value={name}
      error={fault}
      readOnly={busy}
      onChange={(event) => setName(event.currentTarget.value)}
      onBlur={() => !busy && name === entry.name && onDone()}
      onKeyDown={(event) => {
        if (event.key === "Enter") void save();
        if (event.key === "Escape") onDone();
      }}
    />
  );
}
