import { useLingui } from "@lingui/react/macro";
import { TagsInput, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { usersSearchQuery } from "@/queries/users";

interface Props {
  label: string;
  description?: ReactNode;
  /** E-mails. */
  value: string[];
  onChange: (emails: string[]) => void;
  error?: ReactNode;
}

/** Selects users of any domain by a part of their e-mail or name. */
export function UsersInput({ value, ...props }: Props) {
  const { t } = useLingui();
  const [written, setWritten] = useState("");
  const [q] = useDebouncedValue(written, 200);
  const users = useQuery({ ...usersSearchQuery(q), enabled: q !== "" }).data ?? [];
  return (
    <TagsInput
      {...props}
      value={value}
      placeholder={value.length === 0 ? t`E-mail, or part of a name` : undefined}
      // Only while typing: the list would cover the button below.
      data={written === "" ? [] : users.map(({ email }) => email)}
      filter={({ options }) => options}
      splitChars={[",", " ", ";"]}
      searchValue={written}
      onSearchChange={setWritten}
      renderOption={({ option }) => (
        <div>
          <Text size="sm">{option.value}</Text>
          <Text size="xs" c="dimmed">
            {users.find(({ email }) => email === option.value)?.name}
          </Text>
        </div>
      )}
    />
  );
}
