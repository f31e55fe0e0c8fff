import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Input, SegmentedControl, Stack, Text, Textarea } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { RequestSummary } from "@/features/sessions/launcher/RequestSummary";
import { definitionReadQuery } from "@/queries/schedules";
import { useProblemText } from "@/sentences/use-problem-text";
import styles from "./DefinitionInput.module.css";
import { SessionChoice } from "./SessionChoice";

const REST_MS = 400;
const SOURCES = ["launcher", "session", "text"] as const;
type Source = (typeof SOURCES)[number];

interface Props {
  /** The definition in YAML; "" while there is none. */
  value: string;
  error: ReactNode;
  onChange: (text: string) => void;
  /** Called before the launcher opens instead of the form. */
  onLeave: () => void;
}

/** What a schedule starts each time: composed in the launcher, copied from a session, or written in YAML. */
export function DefinitionInput({ value, error, onChange, onLeave }: Props) {
  const { t } = useLingui();
  const navigate = useNavigate();
  const [source, setSource] = useState<Source>(value ? "text" : "launcher");
  const compose = () => {
    onLeave();
    void navigate({ to: "/sessions", search: { launch: "new", with: { kind: "batch" } } });
  };
  return (
    <Input.Wrapper label={t`Session`} description={t`What is started each time.`} labelElement="div">
      <Stack gap="sm" mt={6}>
        <SegmentedControl
          size="xs"
          fullWidth
          aria-label={t`Definition from`}
          data={[
            { value: "launcher", label: t`Launcher` },
            { value: "session", label: t`Existing session` },
            { value: "text", label: "YAML" },
          ]}
          value={source}
          onChange={(next) => setSource(next as Source)}
        />
        {source === "launcher" && (
          <Stack gap="xs" align="flex-start">
            <Text size="sm">
              <Trans>Fill in the launcher, review, and choose "Run this every…" at its end.</Trans>
            </Text>
            <Button size="xs" variant="default" onClick={compose}>
              <Trans>Open launcher</Trans>
            </Button>
          </Stack>
        )}
        {source === "session" && <SessionChoice onChange={onChange} />}
        {source === "text" && (
          <Textarea
            aria-label={t`Definition in YAML`}
            placeholder={"image: starter\nkind: batch\ncommand: [python, report.py]\ncpu: 2\nmem: 4g"}
            autosize
            minRows={5}
            maxRows={14}
            spellCheck={false}
            classNames={{ input: styles.code ?? "" }}
            data-path="text"
            value={value}
            onChange={(event) => onChange(event.currentTarget.value)}
          />
        )}
        {value && <Understood text={value} />}
        {error && <Input.Error>{error}</Input.Error>}
      </Stack>
    </Input.Wrapper>
  );
}

/** The definition in words, or why it cannot be read. */
function Understood({ text }: { text: string }) {
  const problemText = useProblemText();
  const [rested] = useDebouncedValue(text, REST_MS);
  const session = useQuery(definitionReadQuery(rested));
  if (session.isError) return <Input.Error>{problemText(session.error).detail}</Input.Error>;
  if (!session.data?.slots && !session.data?.image) return null;
  return <RequestSummary request={{ ...session.data, slots: session.data.slots ?? { cpu: 0, mem: 0 } }} />;
}
