import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { PasswordInput, type PasswordInputProps, Progress, Stack, Text } from "@mantine/core";
import { IconCheck, IconCircle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { signInOptionsQuery } from "@/queries/auth";
import styles from "./Entry.module.css";
import { GUESSABLE_BELOW, type PasswordRules, rulesKept } from "./password-rules";
import { useStrength } from "./use-strength";

interface Props extends Omit<PasswordInputProps, "value"> {
  value?: string;
  /** Words that are easy to guess for this user: e-mail and name. */
  personal: readonly string[];
}

/** A new password, with the password rules and a live strength indicator. */
export function NewPasswordInput({ value = "", personal, ...input }: Props) {
  const { t } = useLingui();
  const { data: greeting } = useQuery(signInOptionsQuery);
  return (
    <Stack gap="xs">
      <PasswordInput
        {...input}
        value={value}
        autoComplete="new-password"
        visibilityToggleButtonProps={{ "aria-label": t`Show the password`, tabIndex: 0 }}
      />
      {greeting && <Rules password={value} rules={greeting.password} personal={personal} />}
    </Stack>
  );
}

function Rules(props: { password: string; rules: PasswordRules; personal: readonly string[] }) {
  const { password, rules, personal } = props;
  const { t } = useLingui();
  const kept = rulesKept(password, rules);
  const strength = useStrength(password, personal);
  const words = [t`very weak`, t`weak`, t`fair`, t`good`, t`strong`];
  const word = strength === null ? "" : (words[strength] ?? "");
  const colors = ["red", "red", "brass", "lamp", "lamp"];
  return (
    <Stack gap={6}>
      {password !== "" && strength !== null && (
        <div>
          <Progress
            value={(strength + 1) * 20}
            color={colors[strength]}
            size="sm"
            aria-label={t`Password strength`}
            aria-valuetext={word}
          />
          <Text size="xs" c="dimmed" aria-live="polite">
            <Trans>Strength: {word}</Trans>
          </Text>
        </div>
      )}
      <ul className={styles.rules} aria-label={t`Password requirements`}>
        <Rule kept={kept.length}>
          <Plural value={rules.min_length} one="At least # character" other="At least # characters" />
        </Rule>
        {rules.classes > 1 && (
          <Rule kept={kept.classes}>
            <Trans>At least {rules.classes} of: lowercase letters, uppercase letters, digits, symbols</Trans>
          </Rule>
        )}
        {rules.refuse_common && (
          <Rule kept={strength !== null && password !== "" && strength >= GUESSABLE_BELOW}>
            <Trans>Hard to guess: not a common password, your name or your e-mail address</Trans>
          </Rule>
        )}
        {rules.history > 0 && (
          <Rule kept={false}>
            <Plural
              value={rules.history}
              one="Different from your current and your previous password"
              other="Different from your current and your # previous passwords"
            />
          </Rule>
        )}
      </ul>
    </Stack>
  );
}

function Rule({ kept, children }: { kept: boolean; children: ReactNode }) {
  return (
    <li data-kept={kept || undefined}>
      {kept ? <IconCheck size={13} aria-hidden /> : <IconCircle size={13} aria-hidden />}
      <span>{children}</span>
    </li>
  );
}
