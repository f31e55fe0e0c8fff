import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Popover, Text, TextInput } from "@mantine/core";
import { IconBookmark } from "@tabler/icons-react";
import { type FormEvent, useState } from "react";
import type { SavedView } from "@/api/types";
import { useSaveView } from "@/queries/views";
import type { SessionsSearch } from "@/routing/search";
import { useAddress } from "@/routing/use-address";
import { useProblemText } from "@/sentences/use-problem-text";
import { searchOf } from "./view-search";

interface Props {
  views: readonly SavedView[];
  /** What is saved. */
  search: SavedView["search"];
}

/** Saves the filter, order and columns under a name; the name of a saved view replaces that. */
export function SaveView({ views, search }: Props) {
  const { t } = useLingui();
  const [open, setOpen] = useState(false);
  const [name, setName] = useState("");
  const save = useSaveView();
  const change = useAddress<SessionsSearch>();
  const text = useProblemText()(save.error);
  const replaced = views.find((view) => view.name === name.trim());
  const close = () => {
    setOpen(false);
    setName("");
    save.reset();
  };
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() === "") return;
    save.mutate(
      { id: replaced?.id, name: name.trim(), search },
      {
        onSuccess: (view) => {
          close();
          // The address with the columns is that of the view.
          change(searchOf(view), true);
        },
      },
    );
  };
  return (
    <Popover opened={open} onChange={(next) => !next && close()} position="bottom-start" trapFocus>
      <Popover.Target>
        <Button
          size="compact-xs"
          variant="subtle"
          color="gray"
          style={{ flex: "none" }}
          leftSection={<IconBookmark size={14} aria-hidden />}
          onClick={() => setOpen(true)}
        >
          <Trans>Save view…</Trans>
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <form onSubmit={send}>
          <TextInput
            size="xs"
            w={240}
            label={t`Name of the view`}
            description={t`Saves filter, order and columns for you.`}
            maxLength={64}
            list="saved-views"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={save.isError && [text.detail, text.hint].filter(Boolean).join(" ")}
            data-autofocus
          />
          <datalist id="saved-views">
            {views.map((view) => (
              <option key={view.id} value={view.name} />
            ))}
          </datalist>
          <Group justify="space-between" mt="xs">
            <Text size="xs" c="dimmed">
              {replaced && <Trans>Replaces the view</Trans>}
            </Text>
            <Button size="xs" type="submit" loading={save.isPending} disabled={name.trim() === ""}>
              {replaced ? <Trans>Replace</Trans> : <Trans>Save</Trans>}
            </Button>
          </Group>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}
