import { useLingui } from "@lingui/react/macro";
import { Kbd, Modal, Table } from "@mantine/core";

export function KeyHelp({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useLingui();
  const mac = /Mac|iPhone|iPad/.test(navigator.userAgent);
  const rows: [string[], string][] = [
    [[mac ? "⌘" : "Ctrl", "K"], t`Search and commands`],
    [["N"], t`Start a session`],
    [["/"], t`Search in the list`],
    [["↑", "↓"], t`Move between sessions (J and K too)`],
    [["Enter"], t`Show the session`],
    [["T"], t`Open its terminal`],
    [["O"], t`Open JupyterLab`],
    [["X"], t`Select it`],
    [["Del"], t`Terminate it`],
    [["Esc"], t`Close what is open`],
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
          {rows.map(([keys, what]) => (
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
