import { Trans, useLingui } from "@lingui/react/macro";
import { Stack, Text } from "@mantine/core";
import type { UserCreated } from "@/api/types";
import { useMe } from "@/me/use-me";
import { useCreateUser } from "@/queries/users";
import { Form } from "@/ui/form/Form";
import { FormDrawer } from "@/ui/form/FormDrawer";
import { SecretPanel } from "@/ui/form/SecretPanel";
import { focusFirst, useProblemForm } from "@/ui/form/use-problem-form";
import { createUserCommand } from "./command";
import { freshUser, toCreate, type UserValues } from "./form-values";
import { LinkPanel } from "./LinkPanel";
import { UserFields } from "./UserFields";
import { useUserRules } from "./use-user-rules";

interface Props {
  opened: boolean;
  onClose: () => void;
}

/** Creates a user; a returned password or link is shown once. */
export function CreateUserDrawer({ opened, onClose }: Props) {
  const { t } = useLingui();
  const create = useCreateUser();
  const close = () => {
    create.reset();
    onClose();
  };
  const made = create.data;
  const secret = made !== undefined && (made.password || made.link);
  return (
    <FormDrawer
      opened={opened}
      onClose={close}
      size="lg"
      title={t`New user`}
      closeButtonProps={{ "aria-label": t`Close` }}
      // Secrets shown once must not vanish by an accidental click.
      closeOnClickOutside={!secret}
    >
      {secret && made ? <Made user={made} onDone={close} /> : <CreateForm create={create} onDone={close} />}
    </FormDrawer>
  );
}

function CreateForm({ create, onDone }: { create: ReturnType<typeof useCreateUser>; onDone: () => void }) {
  const me = useMe();
  const validate = useUserRules();
  const form = useProblemForm<UserValues>(
    { initialValues: freshUser(me.user.domain.id), validate },
    create.error,
  );
  const onSubmit = form.onSubmit(
    (values) =>
      create.mutate(toCreate(values), {
        onSuccess: ({ password, link }) => {
          if (!password && !link) onDone();
        },
      }),
    focusFirst(form),
  );
  return (
    <Form
      onSubmit={onSubmit}
      submit={<Trans>Create</Trans>}
      onCancel={onDone}
      busy={create.isPending}
      problem={create.error}
      command={createUserCommand(toCreate(form.values))}
    >
      <UserFields form={form} existing={false} />
    </Form>
  );
}

function Made({ user, onDone }: { user: UserCreated; onDone: () => void }) {
  const { t } = useLingui();
  return (
    <Stack>
      <Text size="sm">
        <Trans>
          Created <b>{user.email}</b>.
        </Trans>
      </Text>
      {user.link ? (
        <LinkPanel email={user.email} link={user.link} onDone={onDone} />
      ) : (
        <SecretPanel
          title={t`Send this password to the user`}
          secret={user.password ?? ""}
          copyLabel={t`Copy the password`}
          onDone={onDone}
        />
      )}
    </Stack>
  );
}
