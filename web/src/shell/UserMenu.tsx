import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Avatar, Menu, Text, useMantineColorScheme } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import {
  IconCheck,
  IconDeviceDesktop,
  IconHelp,
  IconKeyboard,
  IconLanguage,
  IconLogout,
  IconMoon,
  IconSettings,
  IconSparkles,
  IconSun,
  IconUser,
} from "@tabler/icons-react";
import { Link, useNavigate } from "@tanstack/react-router";
import type { Me } from "@/api/types";
import { LANGUAGES, type Language } from "@/i18n";
import { usePreferences } from "@/me/preferences";
import { useLogout } from "@/queries/auth";
import { setKeyHelp } from "@/ui/table/key-lines";
import { About } from "./About";

/** The user's settings, help, what is new, keyboard shortcuts, language, theme and sign-out, and the version. */
export function UserMenu({ me }: { me: Me }) {
  const { t, i18n } = useLingui();
  const { colorScheme } = useMantineColorScheme();
  const { setLanguage, setTheme } = usePreferences();
  const navigate = useNavigate();
  const logout = useLogout();
  const themes = [
    { value: "light", label: t`Light`, icon: IconSun },
    { value: "dark", label: t`Dark`, icon: IconMoon },
    { value: "auto", label: t`System default`, icon: IconDeviceDesktop },
  ] as const;
  const leave = () =>
    logout.mutate(undefined, {
      onSuccess: () => navigate({ to: "/signin" }),
      onError: (problem) =>
        notifications.show({ color: "red", message: problem.message || t`Could not sign out.` }),
    });
  const tick = (on: boolean) => (on ? <IconCheck size={15} aria-hidden /> : null);
  return (
    <Menu position="bottom-end" width={230} closeOnItemClick={false}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" radius="xl" aria-label={t`User menu`}>
          <Avatar size={28} radius="xl" color="lamp" aria-hidden>
            <IconUser size={17} stroke={1.8} />
          </Avatar>
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" fw={600} c="var(--carrel-ink)" truncate>
            {me.user.name}
          </Text>
          <Text size="xs" c="dimmed" truncate>
            {me.user.email}
          </Text>
        </Menu.Label>
        <Menu.Item
          component={Link}
          to="/settings"
          closeMenuOnClick
          leftSection={<IconSettings size={16} aria-hidden />}
        >
          <Trans>Your settings</Trans>
        </Menu.Item>
        <Menu.Item
          component={Link}
          to="/help"
          closeMenuOnClick
          leftSection={<IconHelp size={16} aria-hidden />}
        >
          <Trans>Help</Trans>
        </Menu.Item>
        <Menu.Item
          component={Link}
          to="/help/changelog"
          closeMenuOnClick
          leftSection={<IconSparkles size={16} aria-hidden />}
        >
          <Trans>What is new</Trans>
        </Menu.Item>
        <Menu.Item
          closeMenuOnClick
          onClick={() => setKeyHelp(true)}
          leftSection={<IconKeyboard size={16} aria-hidden />}
        >
          <Trans>Keyboard shortcuts</Trans>
        </Menu.Item>
        <Menu.Divider />
        <Menu.Label>
          <Trans>Language</Trans>
        </Menu.Label>
        {(Object.keys(LANGUAGES) as Language[]).map((language) => (
          <Menu.Item
            key={language}
            lang={language}
            onClick={() => setLanguage(language)}
            leftSection={<IconLanguage size={16} aria-hidden />}
            rightSection={tick(i18n.locale === language)}
          >
            {LANGUAGES[language]}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Label>
          <Trans>Theme</Trans>
        </Menu.Label>
        {themes.map(({ value, label, icon: Icon }) => (
          <Menu.Item
            key={value}
            onClick={() => setTheme(value)}
            leftSection={<Icon size={16} aria-hidden />}
            rightSection={tick(colorScheme === value)}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item closeMenuOnClick onClick={leave} leftSection={<IconLogout size={16} aria-hidden />}>
          <Trans>Sign out</Trans>
        </Menu.Item>
        <Menu.Divider />
        <About />
      </Menu.Dropdown>
    </Menu>
  );
}
