import { useLingui } from "@lingui/react/macro";
import { Radio, Stack, TextInput } from "@mantine/core";

export type FoldersFate = "keep" | "give" | "delete";

interface Props {
  value: FoldersFate;
  /** E-mail of the new owner. */
  recipient: string;
  onChange: (value: FoldersFate) => void;
  onRecipient: (email: string) => void;
}

/** Asks what happens to the folders of deleted users. */
export function FoldersChoice({ value, recipient, onChange, onRecipient }: Props) {
  const { t } = useLingui();
  return (
    <Radio.Group
      label={t`Folders of the users`}
      value={value}
      onChange={(next) => onChange(next as FoldersFate)}
    >
      <Stack gap="xs" mt={4}>
        <Radio value="keep" label={t`Skip users who have folders`} />
        <Radio value="give" label={t`Transfer to another user`} />
        {value === "give" && (
          <TextInput
            size="xs"
            ms="xl"
            type="email"
            autoComplete="off"
            aria-label={t`E-mail of the new owner`}
            placeholder="ada@example.org"
            value={recipient}
            onChange={(event) => onRecipient(event.currentTarget.value)}
          />
        )}
        <Radio
          value="delete"
          label={t`Delete permanently`}
          description={t`Deletes all their files. This cannot be undone. Folders in their trash are always deleted.`}
        />
      </Stack>
    </Radio.Group>
  );
}
