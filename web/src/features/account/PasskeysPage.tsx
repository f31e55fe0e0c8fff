import { Trans, useLingui } from "@lingui/react/macro";
import { Group, Skeleton, Stack, Text, TextInput } from "@mantine/core";
import { IconFingerprint, IconPencil, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { takesPasskeys } from "@/api/passkey";
import type { Factors, Passkey } from "@/api/types";
import { RecoveryCodeList } from "@/features/signin/RecoveryCodeList";
import { useRefusal } from "@/me/may";
import { factorsShowQuery, useAddPasskey, useRemovePasskey, useRenamePasskey } from "@/queries/factors";
import { EmptyState } from "@/ui/EmptyState";
import { askToConfirm } from "@/ui/form/ConfirmDialog";
import { Form } from "@/ui/form/Form";
import { focusFirst, useProblemForm } from "@/ui/form/use-problem-form";
import { Instant } from "@/ui/Instant";
import { MainButton } from "@/ui/MainButton";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { RowTool } from "@/ui/table/RowTool";
import styles from "./SettingsPage.module.css";
import { Panel, Sheet } from "./Sheet";

/** The current user's passkeys. */
export function PasskeysPage() {
  const { t } = useLingui();
  const factors = useQuery(factorsShowQuery);
  const [codes, setCodes] = useState<string[]>([]);
  /** The open name form: for a new passkey, or for an existing one. */
  const [asking, setAsking] = useState<"new" | Passkey>();
  return (
    <Sheet
      title={t`Passkeys`}
      text={t`Sign in with a fingerprint, a face or a PIN instead of a password. A passkey cannot be phished or reused on another site.`}
    >
      {codes.length > 0 && <RecoveryCodeList codes={codes} onDone={() => setCodes([])} />}
      {factors.isPending && <Skeleton height={140} aria-busy />}
      {factors.error && <ProblemAlert problem={factors.error} onRetry={() => void factors.refetch()} />}
      {asking === "new" && <AddPasskey onCodes={setCodes} onDone={() => setAsking(undefined)} />}
      {typeof asking === "object" && (
        <RenamePasskey key={asking.id} passkey={asking} onDone={() => setAsking(undefined)} />
      )}
      {factors.data && (
        <PasskeyList factors={factors.data} onAdd={() => setAsking("new")} onRename={setAsking} />
      )}
    </Sheet>
  );
}

interface ListProps {
  factors: Factors;
  onAdd: () => void;
  onRename: (passkey: Passkey) => void;
}

function PasskeyList({ factors, onAdd, onRename }: ListProps) {
  const { t } = useLingui();
  const remove = useRemovePasskey();
  const refused = useRefusal()("factor.update");
  const impossible = factors.passkeys_possible
    ? takesPasskeys()
      ? null
      : t`This browser does not support passkeys on this site.`
    : t`Passkeys need HTTPS and a host name.`;
  const last = factors.required && factors.totp_since === null && factors.passkeys.length === 1;
  const askRemove = ({ id, name }: Passkey) =>
    askToConfirm({
      title: t`Remove passkey`,
      closeLabel: t`Close`,
      confirm: t`Remove`,
      onConfirm: () => remove.mutateAsync(id),
      children: (
        <Trans>
          You can no longer sign in with <b>{name}</b>. Delete it on your device too.
        </Trans>
      ),
    });
  return (
    <Panel>
      {factors.passkeys.length === 0 ? (
        <EmptyState title={t`You have no passkeys`} />
      ) : (
        <div>
          {factors.passkeys.map((passkey) => (
            <div key={passkey.id} className={styles.item}>
              <IconFingerprint size={20} stroke={1.6} aria-hidden />
              <div className={styles.itemText}>
                <Text size="sm" fw={600}>
                  {passkey.name}
                </Text>
                <Text size="xs" c="dimmed">
                  <Trans>
                    added <Instant at={passkey.created_at} />
                  </Trans>
                  {" · "}
                  {passkey.last_used_at ? (
                    <Trans>
                      last used <Instant at={passkey.last_used_at} />
                    </Trans>
                  ) : (
                    <Trans>never used</Trans>
                  )}
                </Text>
              </div>
              <Group gap={0} wrap="nowrap">
                <RowTool
                  label={t`Rename`}
                  row={passkey.name}
                  icon={IconPencil}
                  refusal={refused}
                  onClick={() => onRename(passkey)}
                />
                <RowTool
                  label={t`Remove`}
                  row={passkey.name}
                  icon={IconTrash}
                  color="red"
                  refusal={
                    refused ??
                    (last
                      ? t`This site requires two-factor authentication. Set up an authenticator app first.`
                      : null)
                  }
                  onClick={() => askRemove(passkey)}
                />
              </Group>
            </div>
          ))}
        </div>
      )}
      <Group>
        <MainButton
          icon={IconFingerprint}
          label={t`New passkey`}
          refusal={refused ?? impossible}
          onClick={onAdd}
        />
      </Group>
    </Panel>
  );
}

function AddPasskey({ onCodes, onDone }: { onCodes: (codes: string[]) => void; onDone: () => void }) {
  const { t } = useLingui();
  const add = useAddPasskey();
  const form = useProblemForm(
    {
      initialValues: { name: "" },
      validate: { name: (value) => (value.trim() === "" ? t`Enter a name.` : null) },
    },
    add.error,
  );
  const send = form.onSubmit(
    ({ name }) =>
      add.mutate(name.trim(), {
        onSuccess: (codes) => {
          onCodes(codes);
          onDone();
        },
      }),
    focusFirst(form),
  );
  return (
    <Panel title={t`New passkey`}>
      <Form
        onSubmit={send}
        submit={<Trans>Continue</Trans>}
        onCancel={onDone}
        busy={add.isPending}
        problem={add.error}
      >
        <Stack gap="xs">
          <TextInput
            label={t`Name`}
            description={t`The device or password manager that stores it, such as "Work laptop".`}
            maxLength={64}
            autoFocus
            {...form.getInputProps("name")}
          />
        </Stack>
      </Form>
    </Panel>
  );
}

function RenamePasskey({ passkey, onDone }: { passkey: Passkey; onDone: () => void }) {
  const { t } = useLingui();
  const rename = useRenamePasskey();
  const form = useProblemForm(
    {
      initialValues: { name: passkey.name },
      validate: { name: (value) => (value.trim() === "" ? t`Enter a name.` : null) },
    },
    rename.error,
  );
  return (
    <Panel title={t`Rename passkey`}>
      <Form
        onSubmit={form.onSubmit(
          ({ name }) => rename.mutate({ id: passkey.id, name: name.trim() }, { onSuccess: onDone }),
          focusFirst(form),
        )}
        submit={<Trans>Save</Trans>}
        onCancel={onDone}
        busy={rename.isPending}
        problem={rename.error}
      >
        <TextInput label={t`Name`} maxLength={64} autoFocus {...form.getInputProps("name")} />
      </Form>
    </Panel>
  );
}
