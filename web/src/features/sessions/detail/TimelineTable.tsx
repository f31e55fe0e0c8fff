import { Trans, useLingui } from "@lingui/react/macro";
import { Table } from "@mantine/core";
import type { SessionTimeline, TimelineStep } from "@/api/types";
import { Instant } from "@/ui/Instant";
import styles from "./StartTimeline.module.css";
import { formatLasted, STEP_WORDS } from "./start-steps";

/** The steps of a start with their exact times. */
export function TimelineTable({ timeline }: { timeline: SessionTimeline }) {
  const { t, i18n } = useLingui();
  const lasted = ({ begins_at, ends_at }: TimelineStep) =>
    ends_at ? formatLasted(Date.parse(ends_at) - Date.parse(begins_at), i18n.locale) : "–";
  return (
    <details className={styles.figures}>
      <summary>
        <Trans>Show as table</Trans>
      </summary>
      <Table.ScrollContainer minWidth={420} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
        <Table fz="xs" mt="xs" aria-label={t`Steps of the start`}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t`Step`}</Table.Th>
              <Table.Th>{t`Container or app`}</Table.Th>
              <Table.Th>{t`Began`}</Table.Th>
              <Table.Th>{t`Duration`}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {timeline.steps.map((step) => (
              <Table.Tr key={`${step.step}:${step.container ?? step.app}`}>
                <Table.Th scope="row">{i18n._(STEP_WORDS[step.step])}</Table.Th>
                <Table.Td>{step.container ?? step.app ?? "–"}</Table.Td>
                <Table.Td>
                  <Instant at={step.begins_at} />
                </Table.Td>
                <Table.Td>{lasted(step)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </details>
  );
}
