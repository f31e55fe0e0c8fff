import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Checkbox, Group, List, Stack, TagsInput, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { usersList } from "@/api/generated/sdk.gen";
import type { WholeProject } from "@/api/types";
import { useAddMembers } from "@/queries/members";
import { useUnsavedInput } from "@/ui/form/unsaved-input";
import { ProblemAlert } from "@/ui/ProblemAlert";

/** Adds members to a project: search results by e-mail or name, or any typed e-mail. */
export function AddMembers({ project }: { project: WholeProject }) {
  const { t } = useLingui();
  const add = useAddMembers();
  const [chosen, setChosen] = useState<string[]>([]);
  const [written, setWritten] = useState("");
  const [admin, setAdmin] = useState(false);
  const [q] = useDebouncedValue(written, 200);
  const query = useQuery({
    queryKey: ["users", "found", project.domain.id, q] as const,
    queryFn: async ({ signal }) =>
      (
        await usersList({
          query: { q: q || undefined, domain: project.domain.id, state: "active", limit: 20, sort: "email" },
          signal,
        })
      ).data.items,
  });
  useUnsavedInput(() => chosen.length > 0 || written !== "");
  const failed = (add.data?.items ?? []).filter(({ status }) => status === "failed");
  const go = () =>
    add.mutate(
      { project: project.id, users: chosen, admin },
      {
        onSuccess: ({ items }) => {
          // Keep the failed ones for correction.
          setChosen(items.filter(({ status }) => status === "failed").map(({ user }) => user));
          setAdmin(false);
        },
      },
    );
  return (
    <Stack gap="xs">
      <Group align="flex-end" gap="xs">
        <TagsInput
          style={{ flex: "1 1 16rem" }}
          label={t`Add members`}
          placeholder={chosen.length === 0 ? t`E-mail, or part of a name` : undefined}
          data={(query.data ?? []).map(({ email }) => email)}
          filter={({ options }) => options}
          splitChars={[",", " ", ";"]}
          value={chosen}
          onChange={setChosen}
          searchValue={written}
          onSearchChange={setWritten}
          renderOption={({ option }) => {
            const user = query.data?.find(({ email }) => email === option.value);
            return (
              <div>
                <Text size="sm">{option.value}</Text>
                <Text size="xs" c="dimmed">
                  {user?.name}
                </Text>
              </div>
            );
          }}
        />
        <Button onClick={go} disabled={chosen.length === 0} loading={add.isPending}>
          <Trans>Add</Trans>
        </Button>
      </Group>
      <Checkbox
        size="xs"
        label={t`Add as project administrators`}
        checked={admin}
        onChange={(event) => setAdmin(event.currentTarget.checked)}
      />
      {add.error && <ProblemAlert problem={add.error} />}
      {failed.length > 0 && (
        <List size="sm" role="alert" c="var(--carrel-bad)">
          {failed.map(({ user, problem }) => (
            <List.Item key={user}>
              <b>{user}</b>: {problem?.detail}
            </List.Item>
          ))}
        </List>
      )}
    </Stack>
  );
}
