import { useLingui } from "@lingui/react/macro";
import { Skeleton } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Suspense, useMemo } from "react";
import { toProblem } from "@/api/problem";
import type { Session } from "@/api/types";
import { may } from "@/me/may";
import { useMe } from "@/me/use-me";
import { imagesListQuery } from "@/queries/images";
import { part } from "@/routing/part";
import { overSessions } from "@/routing/search";
import { useProblemText } from "@/sentences/use-problem-text";
import { openFormDialog } from "@/ui/form/FormDialog";
import { openApp } from "./open-app";
import { TerminateDialog } from "./TerminateDialog";

const PriorityDialog = part(() => import("./PriorityDialog").then((m) => m.PriorityDialog));

/** The actions on sessions. */
export function useSessionActions() {
  const { t } = useLingui();
  const navigate = useNavigate();
  const images = useQuery(imagesListQuery).data;
  const me = useMe();
  const problemText = useProblemText();

  return useMemo(
    () => ({
      /** JupyterLab, if the session runs and its image provides it according to the catalogue. */
      jupyterIn: (session: Session) =>
        session.state === "RUNNING"
          ? images
              ?.find(({ name }) => name === session.image_name)
              ?.apps.find(({ name }) => name === "jupyter")
          : undefined,

      /** Why the user may not do what only the owner may, whatever the role of others; or null. */
      ownerOnly: (session: Pick<Session, "owner">) =>
        session.owner.id === me.user.id ? null : t`Only the owner of the session can do this.`,

      /** Why the user may not open terminals and apps, or null: the owner may, and those with whom its use is shared. */
      whyNotUse: (session: Pick<Session, "owner" | "shared_as">) => {
        if (session.owner.id === me.user.id || session.shared_as === "use") return null;
        return session.shared_as
          ? t`This session is shared with you to look at only.`
          : t`Only the owner of the session can do this.`;
      },

      /** Why the user may not change or end the session, or null: a share does not permit it. */
      whyNotChange: (session: Pick<Session, "owner" | "project" | "domain">) =>
        may(me, "session.remove", {
          owner: session.owner.id,
          project: session.project.id,
          domain: session.domain.id,
        })
          ? null
          : t`Only the owner of the session and administrators can do this.`,

      showDetail: (id: string) =>
        navigate({ to: "/sessions", search: (now) => overSessions(now, { session: id }) }),

      openTerminal: (id: string, container?: string) =>
        navigate({ to: "/terminal/$id", params: { id }, search: { container } }),

      startAgain: (id: string) => navigate({ to: "/sessions", search: { launch: id } }),

      openApp: async (session: Pick<Session, "id" | "name">, app: { name: string; title: string }) => {
        try {
          await openApp(session.id, app.name, {
            title: `${app.title} · ${session.name}`,
            waiting: t`Starting ${app.title} in ${session.name}. This can take a few seconds.`,
            blocked: t`The browser blocked the new tab.`,
            blockedHint: t`Allow pop-ups for this address and try again.`,
          });
        } catch (thrown) {
          const { detail, hint } = problemText(thrown);
          notifications.show({
            color: "red",
            title: t`Could not open ${app.title}`,
            message: [detail, hint, `(${toProblem(thrown).code})`].filter(Boolean).join(" "),
            autoClose: 12_000,
          });
        }
      },

      prioritise: (sessions: Session[]) =>
        openFormDialog({
          title: t`Change priority`,
          form: (close) => (
            <Suspense fallback={<Skeleton height={120} />}>
              <PriorityDialog sessions={sessions} onDone={close} />
            </Suspense>
          ),
        }),

      terminate: (sessions: Session[]) => {
        if (sessions.length === 0) return;
        openFormDialog({
          title: sessions.length === 1 ? t`Terminate session` : t`Terminate sessions`,
          form: (close) => <TerminateDialog sessions={sessions} onDone={close} />,
        });
      },
    }),
    [t, navigate, images, me, problemText],
  );
}

export type SessionActions = ReturnType<typeof useSessionActions>;
