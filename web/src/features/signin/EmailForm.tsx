import { useLingui } from "@lingui/react/macro";
import { Button, Stack, TextInput } from "@mantine/core";
import type { UseMutationResult } from "@tanstack/react-query";
import type { Problem } from "@/api/problem";
import { useProblemForm } from "@/ui/form/use-problem-form";
import { SignInProblem } from "./SignInProblem";

interface Props {
  submit: string;
  send: UseMutationResult<void, Problem, string>;
}

/** Asks for an e-mail address to send something to. */
export function EmailForm({ submit, send }: Props) {
  const { t } = useLingui();
  const form = useProblemForm(
    {
      initialValues: { email: "" },
      validate: { email: (value) => (value.trim() === "" ? t`Enter your e-mail address.` : null) },
    },
    send.error,
  );
  return (
    <form onSubmit={form.onSubmit(({ email }) => send.mutate(email.trim()))} noValidate>
      <Stack>
        <TextInput
          label={t`E-mail`}
          type="email"
          autoComplete="username"
          size="md"
          autoFocus
          {...form.getInputProps("email")}
        />
        {send.error && <SignInProblem problem={send.error} />}
        <Button type="submit" size="md" loading={send.isPending} fullWidth>
          {submit}
        </Button>
      </Stack>
    </form>
  );
}
