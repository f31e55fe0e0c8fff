import { useLingui } from "@lingui/react/macro";
import { Code, Group, NumberInput, Stack, TextInput } from "@mantine/core";
import { MOST_BY_PATTERN, patternUsers } from "./drafts";

interface Pattern {
  prefix: string;
  suffix: string;
  count: number;
}

/** Users with numbered e-mails. */
export function PatternSource({
  pattern,
  onChange,
}: {
  pattern: Pattern;
  onChange: (next: Pattern) => void;
}) {
  const { t } = useLingui();
  const users = patternUsers(pattern);
  const [first, last] = [users[0]?.email, users.at(-1)?.email];
  return (
    <Stack gap="xs">
      <Group grow align="flex-start">
        <TextInput
          label={t`Prefix`}
          placeholder="lab"
          maxLength={30}
          value={pattern.prefix}
          onChange={(event) => onChange({ ...pattern, prefix: event.currentTarget.value })}
        />
        <TextInput
          label={t`E-mail domain`}
          placeholder="example.org"
          maxLength={100}
          value={pattern.suffix}
          onChange={(event) => onChange({ ...pattern, suffix: event.currentTarget.value })}
        />
        <NumberInput
          label={t`Number of users`}
          min={1}
          max={MOST_BY_PATTERN}
          value={pattern.count}
          onChange={(count) => onChange({ ...pattern, count: Number(count) })}
        />
      </Group>
      {first && (
        <Group gap="xs">
          <Code>{first}</Code>…<Code>{last}</Code>
        </Group>
      )}
    </Stack>
  );
}
