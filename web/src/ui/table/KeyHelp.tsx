import { useLingui } from "@lingui/react/macro";
import { ActionIcon, Kbd, Modal, Table, Tooltip } from "@mantine/core";
import { IconKeyboard } from "@tabler/icons-react";

export type KeyLine = readonly [keys: string[], what: string];

/** The keyboard shortcuts of a page; `lines` are the page's own. */
export function KeyHelp({
  lines,
  opened,
  onClose,
}: {
  lines: KeyLine[];
  opened: boolean;
  onClose: () => void;
}) {
  const { t } = useLingui();
  const mac = /Mac|iPhone|iPad/.test(navigator.userAgent);
  const all: KeyLine[] = [
    [[mac ? "⌘" : "Ctrl", "K"], t`Search and commands`],
    [["/"], t`Search the list`],
    [["↑", "↓"], t`Move between rows (J and K too)`],
    ...lines,
    [["Esc"], t`Close`],
    [["?"], t`This list`],
  ];
  return (
    <Modal
      opened={opened}
      onClose={onClose}
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
export function KeyHelpButton({ onClick }: { onClick: () => void }) {
  const { t } = useLingui();
  return (
    <Tooltip label={t`Keyboard shortcuts`}>
      <ActionIcon variant="subtle" color="gray" aria-label={t`Keyboard shortcuts`} onClick={onClick}>
        <IconKeyboard size={18} stroke={1.6} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}
