import { useLingui } from "@lingui/react/macro";
import { Select } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Problem } from "@/api/problem";
import { requestLike } from "@/features/sessions/launcher/request";
import { writeDefinition } from "@/queries/schedules";
import { sessionsListQuery, sessionsShowQuery } from "@/queries/sessions";
import { ProblemAlert } from "@/ui/ProblemAlert";

const SEARCH_PAUSE_MS = 200;

/** Chooses one of the user's sessions, and gives its definition in YAML. */
export function SessionChoice({ onChange }: { onChange: (definition: string) => void }) {
  const { t } = useLingui();
  const client = useQueryClient();
  const [typed, setTyped] = useState("");
  const [q] = useDebouncedValue(typed, SEARCH_PAUSE_MS);
  const sessions = useInfiniteQuery(sessionsListQuery({ state: "all", q, owner: "me" }));
  const copy = useMutation<string, Problem, string>({
    mutationFn: async (id) => {
      const session = await client.fetchQuery(sessionsShowQuery(id));
      const request = requestLike(session);
      const names = new Map(session.mounts.map((one) => [one.folder_id, one.folder_name]));
      const mounts = request.mounts?.map((one) => ({ ...one, folder: names.get(one.folder) ?? one.folder }));
      return writeDefinition({ ...request, ...(mounts ? { mounts } : {}) });
    },
    onSuccess: onChange,
  });
  return (
    <>
      <Select
        aria-label={t`Session to copy`}
        placeholder={t`Select session`}
        searchable
        nothingFoundMessage={t`Nothing found`}
        data={(sessions.data?.pages[0]?.items ?? []).map(({ id, name }) => ({ value: id, label: name }))}
        onSearchChange={setTyped}
        onChange={(id) => id && copy.mutate(id)}
        comboboxProps={{ shadow: "md" }}
      />
      {copy.error && <ProblemAlert problem={copy.error} />}
    </>
  );
}
