import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, PasswordInput, Stack, TextInput } from "@mantine/core";
import { IconFingerprint } from "@tabler/icons-react";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { provePasskey } from "@/api/passkey";
import { Problem } from "@/api/problem";
import type { Evidence } from "@/api/types";
import { SignInProblem } from "./SignInProblem";

export const MEANS = ["password", "code", "passkey", "recovery_code"] as const;
export type Mean = (typeof MEANS)[number];

interface Props {
  /** The proof methods, the default first. */
  methods: readonly Mean[];
  onProve: (evidence: Evidence) => Promise<unknown>;
  submit: string;
  /** Another action: cancel, or use another account. */
  other: { label: string; onClick: () => void };
}

/** Confirms the user's identity by one of several methods. */
export function ProofFields({ methods, onProve, submit, other }: Props) {
  const { t } = useLingui();
  const [mean, setMean] = useState<Mean>(methods[0] ?? "code");
  const [typed, setTyped] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const field = useRef<HTMLInputElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another method has another field
  useEffect(() => field.current?.focus(), [mean]);

  const prove = async (gather: () => Promise<Evidence>) => {
    if (busy) return;
    setBusy(true);
    setProblem(null);
    try {
      await onProve(await gather());
    } catch (thrown) {
      setProblem(thrown);
      field.current?.select();
      setBusy(false);
    }
  };
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (mean === "passkey") void prove(async () => ({ passkey: await provePasskey() }));
    else if (typed.trim() !== "")
      void prove(async () => ({ [mean]: mean === "password" ? typed : typed.trim() }));
  };
  const choose = (next: Mean) => {
    setMean(next);
    setTyped("");
    setProblem(null);
  };
  const names: Record<Mean, string> = {
    password: t`Use your password`,
    code: t`Use an authentication code`,
    passkey: t`Use a passkey`,
    recovery_code: t`Use a recovery code`,
  };
  const common = {
    ref: field,
    value: typed,
    onChange: (event: FormEvent<HTMLInputElement>) => setTyped(event.currentTarget.value),
    size: "md",
    error: problem instanceof Problem && problem.field !== null ? true : undefined,
    // Escape closes only this dialog, not what is open behind it.
    "data-mantine-stop-propagation": true,
    "data-autofocus": true,
  } as const;

  return (
    <form onSubmit={send} noValidate>
      <Stack>
        {mean === "password" && (
          <PasswordInput
            label={t`Password`}
            autoComplete="current-password"
            visibilityToggleButtonProps={{ "aria-label": t`Show the password`, tabIndex: 0 }}
            {...common}
          />
        )}
        {mean === "code" && (
          <TextInput
            label={t`Authentication code`}
            inputMode="numeric"
            autoComplete="one-time-code"
            placeholder="123456"
            maxLength={10}
            {...common}
          />
        )}
        {mean === "recovery_code" && (
          <TextInput
            label={t`Recovery code`}
            description={t`One of the codes that you saved when you set up two-factor authentication. Each code works once.`}
            autoComplete="off"
            spellCheck={false}
            placeholder="abcd-efgh-ijkl-mnop"
            {...common}
          />
        )}
        {problem != null && <SignInProblem problem={problem} />}
        <Button
          type="submit"
          size="md"
          loading={busy}
          fullWidth
          leftSection={mean === "passkey" ? <IconFingerprint size={18} aria-hidden /> : undefined}
        >
          {mean === "passkey" ? <Trans>Use passkey</Trans> : submit}
        </Button>
        <Group gap="xs" justify="space-between">
          {methods
            .filter((one) => one !== mean)
            .map((one) => (
              <Button key={one} variant="subtle" size="compact-sm" onClick={() => choose(one)}>
                {names[one]}
              </Button>
            ))}
          <Button variant="subtle" color="gray" size="compact-sm" onClick={other.onClick}>
            {other.label}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
