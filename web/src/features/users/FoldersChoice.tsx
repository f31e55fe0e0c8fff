import { useLingui } from "@lingui/react/macro";
import { Radio, Stack, TextInput } from "@mantine/core";

export type FoldersFate = "keep" | "give" | "delete";

interface Props {
  value: FoldersFate;
  /** E-mail of who gets them. */
  heir: string;
  onChange: (value: FoldersFate) => void;
  onHeir: (email: string) => void;
}

/** Asks what becomes of the folders of those who are deleted for good. */
export function FoldersChoice({ value, heir, onChange, onHeir }: Props) {
  const { t } = useLingui();
  return (
    <Radio.Group label={t`Their folders`} value={value} onChange={(next) => onChange(next as FoldersFate)}>
      <Stack gap="xs" mt={4}>
        <Radio value="keep" label={t`Whoever has folders stays`} />
        <Radio value="give" label={t`Hand them over to somebody`} />
        {value === "give" && (
          <TextInput
            size="xs"
            ms="xl"
            type="email"
            autoComplete="off"
            aria-label={t`E-mail of who gets the folders`}
            placeholder="ada@example.org"
            value={heir}
            onChange={(event) => onHeir(event.currentTarget.value)}
          />
        )}
        <Radio
          value="delete"
          label={t`Delete them for good`}
          description={t`With everything in them. There is no way back. What is in their trash goes in any case.`}
        />
      </Stack>
    </Radio.Group>
  );
}
