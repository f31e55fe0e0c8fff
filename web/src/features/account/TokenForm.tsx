import { msg } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Fieldset, SegmentedControl, Select, Stack, Text, TextInput } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useMemo, useState } from "react";
import type { NewToken } from "@/api/types";
import { useMe } from "@/me/use-me";
import { useCreateToken } from "@/queries/tokens";
import { Form } from "@/ui/form/Form";
import { focusFirst, useProblemForm } from "@/ui/form/use-problem-form";
import { actionsOf, kindsFor, PRESETS, type ScopePreset, scopesOf } from "./scopes";
import { TokenScopeChoice } from "./TokenScopeChoice";
import { createTokenCommand } from "./token-command";

const PRESET_NAMES = {
  read: msg`Read only`,
  sessions: msg`Manage sessions`,
  everything: msg`All my permissions`,
  chosen: msg`Selected scopes`,
};

interface Props {
  onClose: () => void;
  onMade: (made: NewToken) => void;
}

/** Form for a new token: name, scopes and expiry. */
export function TokenForm({ onClose, onMade }: Props) {
  const { t, i18n } = useLingui();
  const me = useMe();
  const narrow = useMediaQuery("(max-width: 47.99em)");
  const create = useCreateToken();
  const kinds = useMemo(() => kindsFor(me.actions), [me.actions]);
  const [preset, setPreset] = useState<ScopePreset>("read");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(() => new Set(actionsOf("read", kinds)));
  const form = useProblemForm(
    {
      initialValues: { name: "", days: "90" },
      validate: { name: (value) => (value.trim() === "" ? t`Enter a name.` : null) },
    },
    create.error,
  );
  const choosePreset = (next: ScopePreset) => {
    setPreset(next);
    if (next !== "chosen") setChosen(new Set(actionsOf(next, kinds)));
  };
  const scopes = scopesOf(chosen, kinds);
  const days = Number(form.values.days);
  const wish = { name: form.values.name.trim(), scopes, expires_in_days: days || null };
  const [empty, setEmpty] = useState(false);
  const send = form.onSubmit(() => {
    setEmpty(scopes.length === 0);
    if (scopes.length === 0) return;
    create.mutate(wish, {
      onSuccess: (made) => {
        onMade(made);
        onClose();
      },
    });
  }, focusFirst(form));
  const lifetimes = [
    { value: "7", label: t`7 days` },
    { value: "30", label: t`30 days` },
    { value: "90", label: t`90 days` },
    { value: "180", label: t`180 days` },
    { value: "366", label: t`One year` },
    { value: "0", label: t`No expiry` },
  ];
  return (
    <Form
      onSubmit={send}
      submit={<Trans>Create token</Trans>}
      onCancel={onClose}
      busy={create.isPending}
      problem={create.error}
      command={createTokenCommand(wish)}
    >
      <TextInput
        label={t`Name`}
        description={t`What uses it, such as "CI pipeline".`}
        maxLength={64}
        data-autofocus
        {...form.getInputProps("name")}
      />
      <Select
        label={t`Expires in`}
        description={
          days === 0
            ? t`A token without an expiry date stays valid if it leaks. Choose an expiry.`
            : undefined
        }
        data={lifetimes}
        allowDeselect={false}
        {...form.getInputProps("days")}
      />
      <Fieldset legend={t`Scopes`}>
        <Stack gap="xs">
          <SegmentedControl
            size="xs"
            fullWidth
            orientation={narrow ? "vertical" : "horizontal"}
            aria-label={t`Scopes`}
            data={PRESETS.map((value) => ({ value, label: i18n._(PRESET_NAMES[value]) }))}
            value={preset}
            onChange={choosePreset}
          />
          <TokenScopeChoice
            kinds={kinds}
            chosen={chosen}
            onChange={(next) => {
              setPreset("chosen");
              setChosen(next);
            }}
          />
          {empty && scopes.length === 0 && (
            <Text size="sm" c="var(--carrel-bad)" role="alert">
              <Trans>Choose at least one scope.</Trans>
            </Text>
          )}
        </Stack>
      </Fieldset>
    </Form>
  );
}
