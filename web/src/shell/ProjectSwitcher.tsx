import { Trans, useLingui } from "@lingui/react/macro";
import { Box, Button, Menu, Text, Tooltip } from "@mantine/core";
import { IconCheck, IconSelector, IconUsersGroup } from "@tabler/icons-react";
import type { Me } from "@/api/types";
import { chooseProject, useProject } from "@/me/project";

/** The default project of new sessions; a plain label for users with one project. */
export function ProjectSwitcher({ me }: { me: Me }) {
  const { t } = useLingui();
  const project = useProject(me);
  if (!project) return null;
  if (me.projects.length < 2) {
    return (
      <Tooltip label={t`Project of new sessions`}>
        <Text size="sm" c="dimmed" truncate maw={240} visibleFrom="xs">
          <Trans>New sessions in: {project.name}</Trans>
        </Text>
      </Tooltip>
    );
  }
  return (
    <Menu position="bottom-start" width={220}>
      <Menu.Target>
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          c="var(--carrel-ink)"
          leftSection={<IconUsersGroup size={15} aria-hidden />}
          rightSection={<IconSelector size={14} aria-hidden />}
          maw={260}
          aria-label={t`New sessions in: ${project.name}`}
        >
          {/* A phone has room for the name alone. */}
          <Box component="span" visibleFrom="sm">
            <Trans>New sessions in: {project.name}</Trans>
          </Box>
          <Box component="span" hiddenFrom="sm">
            {project.name}
          </Box>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Trans>Project of new sessions</Trans>
        </Menu.Label>
        {me.projects.map((one) => (
          <Menu.Item
            key={one.id}
            onClick={() => chooseProject(one.id)}
            rightSection={one.id === project.id ? <IconCheck size={15} aria-hidden /> : null}
          >
            {one.name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
