import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, SegmentedControl } from "@mantine/core";

interface Props<Span extends string> {
  spans: readonly { value: Span; label: string }[];
  value: Span;
  onChange: (span: Span) => void;
  zoomed: boolean;
  onReset: () => void;
}

/** The choice of a time range, and the way back from a zoom. */
export function RangeBar<Span extends string>({ spans, value, onChange, zoomed, onReset }: Props<Span>) {
  const { t } = useLingui();
  return (
    <Group gap="sm">
      <SegmentedControl
        size="xs"
        aria-label={t`Time range`}
        value={value}
        onChange={(chosen) => onChange(chosen as Span)}
        data={[...spans]}
      />
      {zoomed && (
        <Button size="xs" variant="default" onClick={onReset}>
          <Trans>Reset zoom</Trans>
        </Button>
      )}
    </Group>
  );
}
