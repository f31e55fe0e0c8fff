import { useLingui } from "@lingui/react/macro";
import { createSpotlight, Spotlight, type SpotlightActionGroupData } from "@mantine/spotlight";
import {
  IconBox,
  IconFolder,
  IconFolders,
  IconGauge,
  IconHome2,
  IconLanguage,
  IconMoon,
  IconNotebook,
  IconPlus,
  IconSearch,
  IconServer2,
  IconSun,
  IconTerminal2,
  IconTrash,
} from "@tabler/icons-react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { Me, Session } from "@/api/types";
import { SECTIONS } from "@/features/account/sections";
import { STATE_LOOKS } from "@/features/sessions/state-names";
import { useSessionActions } from "@/features/sessions/use-actions";
import { LANGUAGES, type Language } from "@/i18n";
import { useAdministration } from "@/me/administration";
import { usePreferences } from "@/me/preferences";
import { chooseProject } from "@/me/project";
import { useNodesShown } from "@/me/use-nodes-shown";
import { foldersChoiceQuery } from "@/queries/folders";
import { sessionsListQuery } from "@/queries/sessions";
import { overSessions } from "@/routing/search";

export const [paletteStore, palette] = createSpotlight();

const PICTURE = { size: 18, stroke: 1.6, "aria-hidden": true } as const;

/** The command palette: Ctrl+K or Cmd+K. */
export function Palette({ me }: { me: Me }) {
  const { t, i18n } = useLingui();
  const navigate = useNavigate();
  const { setLanguage, setTheme } = usePreferences();
  const actions = useSessionActions();
  const administration = useAdministration();
  const nodesShown = useNodesShown();
  const live = useInfiniteQuery(sessionsListQuery({ state: "live", q: "", owner: "me" }));
  const sessions = (live.data?.pages ?? []).flatMap((page) => page.items);

  // Fetched when the palette opens.
  const folders = useQuery({ ...foldersChoiceQuery, enabled: false });

  const ofSession = (session: Session): SpotlightActionGroupData["actions"] => {
    const { id, name } = session;
    const running = session.state === "RUNNING";
    const description = `${i18n._(STATE_LOOKS[session.state].label)} · ${session.image_name ?? session.image}`;
    const entry = (key: string, label: string, icon: React.ReactNode, onClick: () => void) => ({
      id: `${key}:${id}`,
      label,
      description,
      leftSection: icon,
      onClick,
    });
    const list = [
      entry("show", t`Show ${name}`, <IconBox {...PICTURE} />, () => void actions.showDetail(id)),
    ];
    if (running) {
      list.push(
        entry(
          "term",
          t`Terminal in ${name}`,
          <IconTerminal2 {...PICTURE} />,
          () => void actions.openTerminal(id),
        ),
      );
    }
    const jupyter = actions.jupyterIn(session);
    if (jupyter) {
      list.push(
        entry(
          "jupyter",
          t`${jupyter.title} in ${name}`,
          <IconNotebook {...PICTURE} />,
          () => void actions.openApp(session, jupyter),
        ),
      );
    }
    list.push(
      entry("rm", t`Terminate ${name}`, <IconTrash {...PICTURE} />, () => actions.terminate([session])),
    );
    return list;
  };

  const pages: SpotlightActionGroupData = {
    group: t`Go to`,
    actions: [
      {
        id: "start",
        label: t({ context: "page", message: "Start" }),
        leftSection: <IconHome2 {...PICTURE} />,
        onClick: () => void navigate({ to: "/" }),
      },
      {
        id: "dashboard",
        label: t`Dashboard`,
        leftSection: <IconGauge {...PICTURE} />,
        onClick: () => void navigate({ to: "/dashboard" }),
      },
      {
        id: "sessions",
        label: t`Sessions`,
        leftSection: <IconTerminal2 {...PICTURE} />,
        onClick: () => void navigate({ to: "/sessions" }),
      },
      {
        id: "data",
        label: t`Data`,
        leftSection: <IconFolders {...PICTURE} />,
        onClick: () => void navigate({ to: "/data" }),
      },
      ...(nodesShown
        ? [
            {
              id: "agents",
              label: t`Agent summary`,
              leftSection: <IconServer2 {...PICTURE} />,
              onClick: () => void navigate({ to: "/agents" }),
            },
          ]
        : []),
      ...SECTIONS.map(({ to, label, icon: Icon }) => ({
        id: to,
        label: `${t`Your settings`}: ${i18n._(label)}`,
        leftSection: <Icon {...PICTURE} />,
        onClick: () => void navigate({ to }),
      })),
      ...administration.map(({ to, label, icon: Icon }) => ({
        id: to,
        label,
        leftSection: <Icon {...PICTURE} />,
        onClick: () => void navigate({ to }),
      })),
    ],
  };
  const doing: SpotlightActionGroupData = {
    group: t`Actions`,
    actions: [
      {
        id: "new",
        label: t`Start a session`,
        leftSection: <IconPlus {...PICTURE} />,
        onClick: () =>
          void navigate({ to: "/sessions", search: (now) => overSessions(now, { launch: "new" }) }),
      },
      {
        id: "new-folder",
        label: t`New folder`,
        leftSection: <IconPlus {...PICTURE} />,
        onClick: () => void navigate({ to: "/data", search: { make: "one" } }),
      },
      {
        id: "light",
        label: t`Light theme`,
        leftSection: <IconSun {...PICTURE} />,
        onClick: () => setTheme("light"),
      },
      {
        id: "dark",
        label: t`Dark theme`,
        leftSection: <IconMoon {...PICTURE} />,
        onClick: () => setTheme("dark"),
      },
      ...(Object.keys(LANGUAGES) as Language[]).map((language) => ({
        id: `language:${language}`,
        label: LANGUAGES[language],
        leftSection: <IconLanguage {...PICTURE} />,
        onClick: () => setLanguage(language),
      })),
      ...(me.projects.length > 1 ? me.projects : []).map((project) => ({
        id: `project:${project.id}`,
        label: t`Switch to project ${project.name}`,
        leftSection: <IconBox {...PICTURE} />,
        onClick: () => chooseProject(project.id),
      })),
    ],
  };
  const ofFolders: SpotlightActionGroupData = {
    group: t`Folders`,
    actions: (folders.data ?? []).slice(0, 100).map(({ id, name, owner, project }) => ({
      id: `folder:${id}`,
      label: name,
      description: project ? t`Project ${project.name}` : owner?.email,
      leftSection: <IconFolder {...PICTURE} />,
      onClick: () => void navigate({ to: "/data/$folder", params: { folder: id } }),
    })),
  };
  const ofSessions = { group: t`Live sessions`, actions: sessions.slice(0, 30).flatMap(ofSession) };

  return (
    <Spotlight
      store={paletteStore}
      actions={[doing, pages, ofSessions, ofFolders].filter(({ actions }) => actions.length > 0)}
      onSpotlightOpen={() => void folders.refetch()}
      shortcut={["mod + K"]}
      nothingFound={t`Nothing found`}
      highlightQuery
      attributes={{ content: { "aria-label": t`Search and commands` } }}
      scrollable
      overlayProps={{ blur: 0, backgroundOpacity: 0.35 }}
      maxHeight={420}
      limit={60}
      searchProps={{
        leftSection: <IconSearch {...PICTURE} />,
        placeholder: t`Type a command or the name of a session`,
        "aria-label": t`Command`,
      }}
    />
  );
}
