import { useLingui } from "@lingui/react/macro";
import { notifications } from "@mantine/notifications";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { TASK_KINDS } from "@/features/folders/words";
import { NOTIFICATION_KINDS } from "@/features/notifications/words";
import type { DeviceChange, LiveChange, QuotaChange, ShareChange, Transition } from "@/live/apply";
import type { TaskChange } from "@/live/folders";
import { notificationKindOf, showInSystem } from "@/live/notification-kinds";
import { notificationsShowQuery } from "@/queries/notifications";
import { useSessionText } from "@/sentences/use-session-text";
import { formatSize } from "@/ui/format";

/**
 * Toasts for sessions that run or failed, unless the user is viewing them; for sessions that others share; for
 * finished tasks; for scarce quota; and for accelerators that get out of order or are back.
 */
export function useToasts(): (change: LiveChange) => void {
  const { t, i18n } = useLingui();
  const sessionText = useSessionText();
  const navigate = useNavigate();
  const { data: chosen } = useQuery(notificationsShowQuery);
  const ofTask = ({ id, kind, folder_name: folder, state, problem }: TaskChange) => {
    // No toast when space is freed.
    if (!kind || kind === "clean") return;
    const what = `${i18n._(TASK_KINDS[kind])}: ${folder}`;
    if (state === "done") notifications.show({ id, title: what, message: t`Done.`, color: "lamp" });
    if (state === "failed") {
      notifications.show({
        id,
        title: what,
        message: problem ?? t`Failed.`,
        color: "red",
        autoClose: false,
      });
    }
  };
  const ofDevice = ({ kind, name, device, model, problem }: DeviceChange) => {
    const id = `device:${name}:${device}`;
    const isBack = kind === "device_back";
    const title = isBack
      ? t`An accelerator of ${name} is back`
      : t`An accelerator of ${name} is out of order`;
    const message = isBack ? model || device : `${model || device}: ${problem}`;
    const open = () => void navigate({ to: "/resources" });
    if (chosen?.[kind].includes("browser")) showInSystem(id, title, message, open);
    notifications.hide(id);
    if (chosen && !chosen[kind].includes("page")) return;
    notifications.show({
      id,
      title,
      message,
      color: isBack ? "lamp" : "red",
      autoClose: isBack,
      onClick: open,
    });
  };
  const ofSession = ({ before, after }: Transition) => {
    if (!before) return;
    const name = after.name ?? before.name;
    if (after.warnings?.includes("device_unhealthy") && !before.warnings?.includes("device_unhealthy")) {
      notifications.show({
        id: `device:${after.id}`,
        title: t`An accelerator of ${name} is out of order`,
        message: t`Save your work. The history of the session has the problem.`,
        color: "brass",
        autoClose: false,
        onClick: () => void navigate({ to: "/sessions", search: { state: "all", session: after.id } }),
      });
    }
    const kind = notificationKindOf({ before, after });
    if (!kind) return;
    if (chosen?.[kind].includes("browser")) {
      const title = `${name}: ${i18n._(NOTIFICATION_KINDS[kind])}`;
      showInSystem(after.id, title, after.reason ? sessionText.reason(after.reason) : "", () =>
        navigate({ to: "/sessions", search: { state: "all", session: after.id } }),
      );
    }
    if (chosen && !chosen[kind].includes("page")) return;
    if (location.search.includes(after.id) || location.pathname.includes(after.id)) return;
    const open = () => {
      notifications.hide(after.id);
      void navigate({ to: "/sessions", search: { state: "all", session: after.id } });
    };
    if (kind === "about_to_end") {
      const idle = after.idle_ends_at && !before.idle_ends_at;
      const [title, message] = idle
        ? [t`${name} looks idle`, t`It is terminated soon unless you use it or choose to keep it.`]
        : after.limit_ends_at && after.limit_ends_at !== before.limit_ends_at
          ? [t`${name} reaches its time limit soon`, t`Save your work, or extend the limit in its details.`]
          : after.warnings?.includes("node_leaving") && !before.warnings?.includes("node_leaving")
            ? [t`The node of ${name} will be taken away`, t`Move files to a mounted folder now.`]
            : [
                t`The disk of ${name} is nearly full`,
                t`Delete files or move them to a folder. It is terminated if it exceeds its limit.`,
              ];
      notifications.show({
        id: after.id,
        title,
        message,
        color: "brass",
        autoClose: false,
        onClick: open,
      });
      return;
    }
    if (after.state === "RUNNING") {
      notifications.show({ id: after.id, message: t`${name} is running.`, color: "lamp", onClick: open });
    }
    if (after.state === "ERROR") {
      notifications.show({
        id: after.id,
        title: t`${name} failed`,
        message: after.reason ? sessionText.reason(after.reason) : "",
        color: "red",
        autoClose: false,
        onClick: open,
      });
    }
  };
  const ofShare = ({ id, name, by }: ShareChange) => {
    const title = t`${by} shared ${name} with you`;
    const open = () => {
      notifications.hide(id);
      void navigate({ to: "/sessions", search: { owner: "shared", state: "all", session: id } });
    };
    if (chosen?.shared.includes("browser")) showInSystem(id, title, "", open);
    if (chosen && !chosen.shared.includes("page")) return;
    notifications.show({ id, message: title, color: "lamp", onClick: open });
  };
  const ofQuota = ({ label, level, used_bytes: used, most_bytes: most }: QuotaChange) => {
    if (level === "adequate" || most === null) return;
    notifications.show({
      id: `quota:${label}`,
      title: level === "caution" ? t`Space for folders is running low` : t`No space left for folders`,
      message: t`${label}: ${formatSize(used)} of ${formatSize(most)}`,
      color: level === "caution" ? "brass" : "red",
      autoClose: false,
    });
  };
  return (change) => {
    if ("task" in change) ofTask(change.task);
    else if ("quota" in change) ofQuota(change.quota);
    else if ("share" in change) ofShare(change.share);
    else if ("device" in change) ofDevice(change.device);
    else ofSession(change);
  };
}
