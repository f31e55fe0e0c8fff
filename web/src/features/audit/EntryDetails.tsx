import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Code, Collapse, Stack } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { AuditEntry } from "@/api/types";
import { Facts } from "@/ui/Facts";

/** The technical part of an entry, as the API has it; collapsed at first. */
export function EntryDetails({ entry }: { entry: AuditEntry }) {
  const { t } = useLingui();
  const [shown, { toggle }] = useDisclosure();
  return (
    <Stack gap="sm" align="stretch">
      <Button
        size="xs"
        variant="default"
        style={{ alignSelf: "flex-start" }}
        aria-expanded={shown}
        onClick={toggle}
      >
        {shown ? <Trans>Hide details</Trans> : <Trans>Show details</Trans>}
      </Button>
      <Collapse expanded={shown}>
        <Stack gap="sm">
          <Facts
            facts={[
              [t`Action`, <Code key="action">{entry.action}</Code>],
              [t`Object ID`, entry.object.id],
              [t`Request`, entry.request_id],
              [t`Chain position`, entry.position === null ? t`not sealed yet` : `${entry.position}`],
              [t`Hash`, entry.hash !== null && <Code key="hash">{entry.hash}</Code>],
            ]}
          />
          <Code block>{JSON.stringify(entry.details, null, 2)}</Code>
        </Stack>
      </Collapse>
    </Stack>
  );
}
