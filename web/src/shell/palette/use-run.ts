import { useLingui } from "@lingui/react/macro";
import { notifications } from "@mantine/notifications";
import { useNavigate } from "@tanstack/react-router";
import { useNodeActs } from "@/features/resources/use-node-acts";
import { useSessionActions } from "@/features/sessions/use-actions";
import { usePreferences } from "@/me/preferences";
import { chooseProject } from "@/me/project";
import { useLogout } from "@/queries/auth";
import { setKeyHelp } from "@/ui/table/key-lines";
import type { Act } from "./entry";

/** Does what an entry stands for. */
export function useRun(): (does: Act) => void {
  const { t } = useLingui();
  const navigate = useNavigate();
  const { setLanguage, setTheme } = usePreferences();
  const sessions = useSessionActions();
  const nodes = useNodeActs(NOWHERE);
  const logout = useLogout();
  return (does) => {
    switch (does.act) {
      case "go":
        return void navigate(does.target as Parameters<typeof navigate>[0]);
      case "terminal":
        return void sessions.openTerminal(does.session.id);
      case "app":
        return void sessions.openApp(does.session, does.app);
      case "terminate":
        return sessions.terminate([does.session]);
      case "cordon":
        void navigate({ to: "/resources", search: { open: does.node.id } });
        return void nodes.setCordoned(does.node, does.cordoned);
      case "project":
        return chooseProject(does.id);
      case "theme":
        return setTheme(does.theme);
      case "language":
        return setLanguage(does.language);
      case "shortcuts":
        return setKeyHelp(true);
      case "sign-out":
        return logout.mutate(undefined, {
          onSuccess: () => navigate({ to: "/signin" }),
          onError: (problem) =>
            notifications.show({ color: "red", message: problem.message || t`Could not sign out.` }),
        });
    }
  };
}

/** The node actions used here open no form. */
const NOWHERE = () => undefined;
