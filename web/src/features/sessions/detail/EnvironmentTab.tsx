import { Trans, useLingui } from "@lingui/react/macro";
import { Table } from "@mantine/core";
import { EmptyState } from "@/ui/EmptyState";
import styles from "./SessionDrawer.module.css";

/** The environment variables of the session's spec. */
export function EnvironmentTab({ env }: { env: Record<string, string> }) {
  const { t } = useLingui();
  const rows = Object.entries(env);
  if (rows.length === 0) {
    return (
      <EmptyState
        title={t`No environment variables`}
        text={t`Set variables in the launcher when you start a session.`}
      />
    );
  }
  return (
    <Table>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>
            <Trans>Name</Trans>
          </Table.Th>
          <Table.Th>
            <Trans>Value</Trans>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody className={styles.mono}>
        {rows.map(([name, value]) => (
          <Table.Tr key={name}>
            <Table.Td>{name}</Table.Td>
            <Table.Td style={{ overflowWrap: "anywhere" }}>{value}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
