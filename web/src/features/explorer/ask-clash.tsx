import { i18n } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { Plural, Trans } from "@lingui/react/macro";
import { Button, Group, List, Stack, Text } from "@mantine/core";
import { modals } from "@mantine/modals";

export type ClashChoice = "replace" | "rename";

/** Asks how to resolve name conflicts; null cancels. */
export function askAboutClash(names: string[]): Promise<ClashChoice | null> {
  return new Promise((resolve) => {
    const answer = (choice: ClashChoice | null) => {
      resolve(choice);
      modals.close(id);
    };
    const id = modals.open({
      title: i18n._(msg`Files with these names exist`),
      closeButtonProps: { "aria-label": i18n._(msg`Skip`) },
      onClose: () => resolve(null),
      children: (
        <Stack>
          <Text size="sm">
            <Plural
              value={names.length}
              one="The destination already has an entry with this name:"
              other="The destination already has # entries with these names:"
            />
          </Text>
          <List size="sm" mah={160} style={{ overflow: "auto", overflowWrap: "anywhere" }}>
            {names.slice(0, 50).map((name) => (
              <List.Item key={name}>{name}</List.Item>
            ))}
          </List>
          <Group justify="flex-end">
            <Button variant="default" onClick={() => answer(null)}>
              <Trans>Skip</Trans>
            </Button>
            <Button variant="default" onClick={() => answer("rename")} data-autofocus>
              <Trans>Keep both</Trans>
            </Button>
            <Button color="red" onClick={() => answer("replace")}>
              <Trans>Replace</Trans>
            </Button>
          </Group>
        </Stack>
      ),
    });
  });
}
