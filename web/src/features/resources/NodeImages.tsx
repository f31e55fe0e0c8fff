import { useLingui } from "@lingui/react/macro";
import { Code, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import { EmptyState } from "@/ui/EmptyState";

/** The images present on a node: sessions start without a pull. */
export function NodeImages({ names }: { names: string[] }) {
  const { t } = useLingui();
  const [q, setQ] = useState("");
  if (names.length === 0) return <EmptyState title={t`No images on this node yet`} />;
  const matches = names.filter((name) => name.toLowerCase().includes(q.toLowerCase()));
  return (
    <Stack gap="xs">
      {names.length > 10 && (
        <TextInput
          size="xs"
          aria-label={t`Search images`}
          placeholder={t`Name`}
          value={q}
          onChange={(event) => setQ(event.currentTarget.value)}
        />
      )}
      <Stack component="ul" gap={4} m={0} p={0} style={{ listStyle: "none" }}>
        {matches.map((name) => (
          <li key={name}>
            <Code style={{ overflowWrap: "anywhere" }}>{name}</Code>
          </li>
        ))}
      </Stack>
      {matches.length === 0 && <EmptyState title={t`Nothing found`} />}
    </Stack>
  );
}
