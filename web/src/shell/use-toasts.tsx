import { useLingui } from "@lingui/react/macro";
import { notifications } from "@mantine/notifications";
import { useNavigate } from "@tanstack/react-router";
import type { Transition } from "@/live/apply";
import { useSessionText } from "@/sentences/use-session-text";

/** Says in a corner that a session runs or failed, unless the person is looking at it. */
export function useToasts(): (transition: Transition) => void {
  const { t } = useLingui();
  const said = useSessionText();
  const navigate = useNavigate();
  return ({ before, after }) => {
    if (!before || before.state === after.state) return;
    if (location.search.includes(after.id) || location.pathname.includes(after.id)) return;
    const open = () => {
      notifications.hide(after.id);
      void navigate({ to: "/sessions", search: { state: "all", session: after.id } });
    };
    const name = after.name ?? before.name;
    if (after.state === "RUNNING") {
      notifications.show({ id: after.id, message: t`${name} is running.`, color: "lamp", onClick: open });
    }
    if (after.state === "ERROR") {
      notifications.show({
        id: after.id,
        title: t`${name} failed`,
        message: after.reason ? said.reason(after.reason) : "",
        color: "red",
        autoClose: false,
        onClick: open,
      });
    }
  };
}
