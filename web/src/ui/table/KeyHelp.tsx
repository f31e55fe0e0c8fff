import { useLingui } from "@lingui/react/macro";
import { ActionIcon, Kbd, Modal, Table, Tooltip } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { IconKeyboard } from "@tabler/icons-react";
import { overlayIsOpen } from "@/ui/keys";
import { type KeyLine, keyLines, setKeyHelp, useKeyHelpOpen } from "./key-lines";

/** The keyboard shortcuts of the shown page, opened by "?". */
export function KeyHelp() {
  const { t } = useLingui();
  const opened = useKeyHelpOpen();
  const open = () => overlayIsOpen() || setKeyHelp(true);
  useHotkeys([
    ["shift+?", open],
    ["?", open],
  ]);
  const mac = /Mac|iPhone|iPad/.test(navigator.userAgent);
  const all: KeyLine[] = [
    [[mac ? "⌘" : "Ctrl", "K"], t`Search and commands`],
    ...keyLines(),
    [["Esc"], t`Close`],
    [["?"], t`This list`],
  ];
  return (
    <Modal
      opened={opened}
      onClose={() => setKeyHelp(false)}
      title={t`Keyboard shortcuts`}
      closeButtonProps={{ "aria-label": t`Close` }}
    >
      <Table>
        <Table.Tbody>
          {all.map(([keys, what]) => (
            <Table.Tr key={what}>
              <Table.Td w={110}>
                {keys.map((key) => (
                  <Kbd key={key} mr={4}>
                    {key}
                  </Kbd>
                ))}
              </Table.Td>
              <Table.Td>{what}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  );
}

/** Opens the list of keyboard shortcuts. */
export function KeyHelpButton() {
  const { t } = useLingui();
  return (
    <Tooltip label={t`Keyboard shortcuts`}>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={t`Keyboard shortcuts`}
        onClick={() => setKeyHelp(true)}
      >
        <IconKeyboard size={18} stroke={1.6} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}
