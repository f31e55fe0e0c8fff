import { Trans, useLingui } from "@lingui/react/macro";
import { AppShell, Burger, Kbd, UnstyledButton } from "@mantine/core";
import { useDisclosure, useLocalStorage, useMediaQuery } from "@mantine/hooks";
import { IconPlugConnectedX, IconSearch } from "@tabler/icons-react";
import { Link, Outlet, useRouterState } from "@tanstack/react-router";
import { useEffect } from "react";
import { Announcement } from "@/features/site/Announcement";
import { UploadConflictDialog } from "@/features/uploads/UploadConflictDialog";
import { useUploading } from "@/features/uploads/use-uploads";
import { useLive } from "@/live/use-live";
import { useForbidden } from "@/me/administration";
import { useOwnPreferences } from "@/me/preferences";
import { useMe } from "@/me/use-me";
import { DOCK } from "@/ui/dock";
import { FormDialog } from "@/ui/form/FormDialog";
import { Logo } from "@/ui/Logo";
import { KeyHelp } from "@/ui/table/KeyHelp";
import { ForbiddenPage } from "./ForbiddenPage";
import { Navigation } from "./Navigation";
import { NotificationBell } from "./NotificationBell";
import { ProjectSwitcher } from "./ProjectSwitcher";
import { Palette } from "./palette/Palette";
import { palette } from "./palette/store";
import styles from "./Shell.module.css";
import { UserMenu } from "./UserMenu";
import { usePrefetch } from "./use-prefetch";
import { useToasts } from "./use-toasts";

/** The frame of every page after sign-in; it keeps the event stream open. */
export function Shell() {
  const { t } = useLingui();
  const me = useMe();
  const line = useLive(me, useToasts());
  useOwnPreferences(me);
  useUploading(me);
  usePrefetch();
  const [menuOpen, menu] = useDisclosure(false);
  const [narrow, setNarrow] = useLocalStorage({ key: "carrel.rail", defaultValue: false });
  const phone = useMediaQuery("(max-width: 47.99em)") ?? false;
  const path = useRouterState({ select: (state) => state.location.pathname });
  const forbidden = useForbidden(path);
  // biome-ignore lint/correctness/useExhaustiveDependencies: navigation closes the mobile menu
  useEffect(() => menu.close(), [path]);

  return (
    <AppShell
      header={{ height: "3rem" }}
      navbar={{ width: narrow ? 56 : 216, breakpoint: "sm", collapsed: { mobile: !menuOpen } }}
      padding={0}
    >
      <a className="carrel-skip" href="#main">
        <Trans>Skip to content</Trans>
      </a>
      <AppShell.Header className={styles.header} withBorder={false}>
        <Burger hiddenFrom="sm" size="sm" opened={menuOpen} onClick={menu.toggle} aria-label={t`Menu`} />
        <Link to="/" className={styles.brand} aria-label={t`Carrel, start page`}>
          <Logo />
          {!phone && <span>Carrel</span>}
        </Link>
        <ProjectSwitcher me={me} />
        <div className={styles.search}>
          <UnstyledButton className={styles.searchButton} onClick={palette.open}>
            <IconSearch size={16} aria-hidden />
            <span className={styles.searchText}>
              <Trans>Search and commands</Trans>
            </span>
            <Kbd size="xs" aria-hidden>
              {/Mac|iPhone|iPad/.test(navigator.userAgent) ? "⌘ K" : "Ctrl K"}
            </Kbd>
          </UnstyledButton>
        </div>
        <NotificationBell me={me} />
        <UserMenu me={me} />
      </AppShell.Header>
      <AppShell.Navbar className={styles.navbar} withBorder={false}>
        <Navigation narrow={narrow && !phone} onNarrow={phone ? undefined : () => setNarrow(!narrow)} />
      </AppShell.Navbar>
      <AppShell.Main className={styles.main} id="main" tabIndex={-1}>
        {line === "reconnecting" && (
          <output className={styles.offline}>
            <IconPlugConnectedX size={15} aria-hidden />
            <Trans>Connection lost. Data may be out of date. Reconnecting…</Trans>
          </output>
        )}
        <Announcement />
        <div className={styles.body}>
          <div className={styles.page}>{forbidden ? <ForbiddenPage /> : <Outlet />}</div>
          <div id={DOCK} />
        </div>
      </AppShell.Main>
      <Palette me={me} />
      <UploadConflictDialog />
      <FormDialog />
      <KeyHelp />
    </AppShell>
  );
}
