import { Trans, useLingui } from "@lingui/react/macro";
import { Checkbox, Group, TextInput } from "@mantine/core";
import type { NewWebhook } from "@/api/types";
import { useMe } from "@/me/use-me";
import { useCreateWebhook, type WebhookOwner } from "@/queries/notifications";
import { shellQuote } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { focusFirst, useProblemForm } from "@/ui/form/use-problem-form";
import { NOTIFICATION_KINDS, notificationKindsFor } from "./words";

const ofSessions = notificationKindsFor(false);

interface Props {
  owner: WebhookOwner;
  onClose: () => void;
  onMade: (made: NewWebhook) => void;
}

/** Adds a webhook. */
export function WebhookForm({ owner, onClose, onMade }: Props) {
  const { t, i18n } = useLingui();
  const { user } = useMe();
  const kinds = notificationKindsFor(user.role === "superadmin" && Object.keys(owner).length === 0);
  const create = useCreateWebhook();
  const form = useProblemForm(
    {
      initialValues: { name: "", url: "", kinds: [...ofSessions] },
      validate: {
        name: (value) => (value.trim() === "" ? t`Enter a name.` : null),
        url: (value) =>
          /^https?:\/\//.test(value.trim()) ? null : t`Enter a URL such as https://example.org/hook.`,
        kinds: (value) => (value.length === 0 ? t`Choose at least one event.` : null),
      },
    },
    create.error,
  );
  const send = form.onSubmit(
    ({ name, url, kinds }) =>
      create.mutate({ name: name.trim(), url: url.trim(), kinds, ...owner }, { onSuccess: onMade }),
    focusFirst(form),
  );
  const place = Object.entries(owner).map(([option, id]) => ` --${option} ${id}`);
  const { name, url, kinds: chosen } = form.values;
  const isDefault = chosen.length === ofSessions.length && chosen.every((kind) => ofSessions.includes(kind));
  const command = `carrel webhook create ${shellQuote(name.trim() || "NAME")} ${shellQuote(url.trim() || "URL")}`;
  return (
    <Form
      onSubmit={send}
      submit={<Trans>Add webhook</Trans>}
      onCancel={onClose}
      busy={create.isPending}
      problem={create.error}
      command={`${command}${isDefault ? "" : ` --kinds ${chosen.join(",")}`}${place.join("")}`}
    >
      <TextInput label={t`Name`} maxLength={64} data-autofocus {...form.getInputProps("name")} />
      <TextInput
        label={t`URL`}
        placeholder="https://example.org/hook"
        spellCheck={false}
        {...form.getInputProps("url")}
      />
      <Checkbox.Group label={t`Events`} {...form.getInputProps("kinds")}>
        <Group mt="xs">
          {kinds.map((kind) => (
            <Checkbox key={kind} value={kind} label={i18n._(NOTIFICATION_KINDS[kind])} />
          ))}
        </Group>
      </Checkbox.Group>
    </Form>
  );
}
