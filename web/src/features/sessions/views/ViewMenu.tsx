import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Button, Group, Menu, Popover, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconDots } from "@tabler/icons-react";
import { type FormEvent, useState } from "react";
import type { SavedView } from "@/api/types";
import { useRemoveView, useRenameView, useSaveView } from "@/queries/views";
import { useProblemText } from "@/sentences/use-problem-text";

/** Renames or deletes the saved view that is shown. */
export function ViewMenu({ view }: { view: SavedView }) {
  const { t } = useLingui();
  const [renaming, setRenaming] = useState(false);
  const remove = useDeletion();
  return (
    <Popover opened={renaming} onChange={setRenaming} position="bottom-start" trapFocus>
      <Popover.Target>
        <span>
          <Menu position="bottom-start">
            <Menu.Target>
              <ActionIcon size="sm" variant="subtle" color="gray" aria-label={t`View ${view.name}`}>
                <IconDots size={15} aria-hidden />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item onClick={() => setRenaming(true)}>
                <Trans>Rename…</Trans>
              </Menu.Item>
              <Menu.Item color="red" onClick={() => remove(view)}>
                <Trans>Delete view</Trans>
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        </span>
      </Popover.Target>
      <Popover.Dropdown>
        {renaming && <RenameForm view={view} onDone={() => setRenaming(false)} />}
      </Popover.Dropdown>
    </Popover>
  );
}

function RenameForm({ view, onDone }: { view: SavedView; onDone: () => void }) {
  const { t } = useLingui();
  const [name, setName] = useState(view.name);
  const rename = useRenameView();
  const text = useProblemText()(rename.error);
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() === view.name) onDone();
    else if (name.trim() !== "") rename.mutate({ id: view.id, name: name.trim() }, { onSuccess: onDone });
  };
  return (
    <form onSubmit={send}>
      <Group gap="xs" align="flex-end">
        <TextInput
          size="xs"
          label={t`Name of the view`}
          maxLength={64}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={rename.isError && [text.detail, text.hint].filter(Boolean).join(" ")}
          data-autofocus
        />
        <Button size="xs" type="submit" loading={rename.isPending} disabled={name.trim() === ""}>
          <Trans>Rename</Trans>
        </Button>
      </Group>
    </form>
  );
}

/** Deletes a view at once, and offers to undo it. */
function useDeletion(): (view: SavedView) => void {
  const { t } = useLingui();
  const remove = useRemoveView();
  const save = useSaveView();
  const problemText = useProblemText();
  return (view) =>
    remove.mutate(view.id, {
      onSuccess: () => {
        const id = notifications.show({
          title: t`The view ${view.name} is deleted`,
          message: (
            <Button
              size="compact-xs"
              variant="subtle"
              onClick={() => {
                save.mutate({ name: view.name, search: view.search });
                notifications.hide(id);
              }}
            >
              <Trans>Undo</Trans>
            </Button>
          ),
          autoClose: 10_000,
        });
      },
      onError: (problem) =>
        notifications.show({
          color: "red",
          title: t`The view ${view.name} was not deleted`,
          message: problemText(problem).detail,
        }),
    });
}
