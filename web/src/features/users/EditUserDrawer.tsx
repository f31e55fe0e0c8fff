import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Skeleton, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { UserDetail } from "@/api/types";
import { usersShowQuery, useUpdateUser } from "@/queries/users";
import { Form } from "@/ui/form/Form";
import { FormDrawer } from "@/ui/form/FormDrawer";
import { focusFirst, useProblemForm } from "@/ui/form/use-problem-form";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { updateUserCommand } from "./command";
import { toUpdate, type UserValues, userValuesOf } from "./form-values";
import { LiveSessionsInput } from "./LiveSessionsInput";
import { UserFields } from "./UserFields";
import { useUserRules } from "./use-user-rules";

interface Props {
  opened: boolean;
  id: string;
  onClose: () => void;
}

/** Edits a user; sends only what changed. */
export function EditUserDrawer({ opened, id, onClose }: Props) {
  const { t } = useLingui();
  const user = useQuery(usersShowQuery(id));
  return (
    <FormDrawer
      opened={opened}
      onClose={onClose}
      size="lg"
      title={user.data ? t`Edit ${user.data.email}` : t`Edit user`}
      closeButtonProps={{ "aria-label": t`Close` }}
    >
      {user.isPending && (
        <Stack aria-busy>
          {[1, 2, 3, 4].map((key) => (
            <Skeleton key={key} height={56} />
          ))}
        </Stack>
      )}
      {user.isError && <ProblemAlert problem={user.error} onRetry={() => void user.refetch()} />}
      {user.data && <EditForm key={user.data.id} user={user.data} onDone={onClose} />}
    </FormDrawer>
  );
}

function EditForm({ user, onDone }: { user: UserDetail; onDone: () => void }) {
  const update = useUpdateUser();
  const [before] = useState(() => userValuesOf(user));
  const [choice, setChoice] = useState<"keep" | "end">("keep");
  const validate = useUserRules();
  const form = useProblemForm<UserValues>({ initialValues: before, validate }, update.error);
  const changed = toUpdate(before, form.values);
  const disables = changed.state !== undefined && changed.state !== "active";
  const needsChoice = user.live_sessions > 0 && (disables || changed.domain !== undefined);
  const changes = needsChoice
    ? { ...changed, sessions: changed.domain ? ("end" as const) : choice }
    : changed;
  const nothing = Object.keys(changed).length === 0;
  return (
    <Form
      onSubmit={form.onSubmit(
        () => (nothing ? onDone() : update.mutate({ id: user.id, ...changes }, { onSuccess: onDone })),
        focusFirst(form),
      )}
      submit={nothing ? <Trans>Nothing changed</Trans> : <Trans>Save</Trans>}
      onCancel={onDone}
      busy={update.isPending}
      problem={update.error}
      command={nothing ? undefined : updateUserCommand(user.email, changes)}
    >
      <UserFields form={form} existing />
      {needsChoice &&
        (changed.domain ? (
          <Text size="sm" c="var(--carrel-bad)">
            <Plural
              value={user.live_sessions}
              one="Their live session is terminated when they move to another domain."
              other="Their # live sessions are terminated when they move to another domain."
            />
          </Text>
        ) : (
          <LiveSessionsInput
            label={<Plural value={user.live_sessions} one="# live session" other="# live sessions" />}
            value={choice}
            onChange={setChoice}
          />
        ))}
    </Form>
  );
}
