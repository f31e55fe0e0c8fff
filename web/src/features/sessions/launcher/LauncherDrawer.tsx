import { useLingui } from "@lingui/react/macro";
import { Skeleton, Stack } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Me, SessionCreate, SessionDetail } from "@/api/types";
import { useSessionActions } from "@/features/sessions/use-actions";
import { SaveTemplateDialog } from "@/features/templates/SaveTemplateForm";
import { useProject } from "@/me/project";
import { useMe } from "@/me/use-me";
import { foldersChoiceQuery, foldersShowQuery } from "@/queries/folders";
import { imagesListQuery } from "@/queries/images";
import { importsPreviewQuery } from "@/queries/imports";
import { sessionsCheckQuery, sessionsShowQuery, useCreateSession } from "@/queries/sessions";
import { templatesPreviewQuery } from "@/queries/templates";
import { type ImportLink, importOrigin } from "@/routing/import-link";
import type { LaunchLink } from "@/routing/launch-link";
import { FormDrawer } from "@/ui/form/FormDrawer";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { requestedRows } from "./dependencies";
import { LauncherForm } from "./LauncherForm";
import { keepVariables } from "./link";
import { mountRows } from "./mounts";
import { formLike, formOf, freshForm, type LaunchForm, startable, toCheck } from "./request";
import { StartedNotice } from "./StartedNotice";

interface Props {
  opened: boolean;
  /** "new", or the id of the session to copy the settings from. */
  from: string;
  /** Id of a folder to mount. */
  mount: string | undefined;
  /** Id of the template to begin from, and the values of its parameters. */
  template: string | undefined;
  values: Record<string, string> | undefined;
  /** The import to begin from. */
  imported: ImportLink | undefined;
  /** The form as the address holds it. */
  link: LaunchLink | undefined;
  onLink: (link: LaunchLink | undefined) => void;
  onClose: () => void;
}

/** The session launcher. */
export function LauncherDrawer(props: Props) {
  const { opened, from, mount, template, values, imported, link, onLink, onClose } = props;
  const { t } = useLingui();
  const me = useMe();
  const project = useProject(me)?.name ?? "";
  const actions = useSessionActions();
  const like = useQuery({ ...sessionsShowQuery(from), enabled: opened && from !== "new" });
  const folder = useQuery({ ...foldersShowQuery(mount ?? ""), enabled: opened && mount !== undefined });
  const modelled = template !== undefined || imported !== undefined;
  const folders = useQuery({ ...foldersChoiceQuery, enabled: opened && modelled });
  const saved = useQuery({
    ...templatesPreviewQuery(template ?? "", values ?? {}),
    enabled: opened && template !== undefined,
  });
  const source = useQuery({
    ...importsPreviewQuery(imported ?? {}),
    enabled: opened && imported !== undefined,
  });
  const model = imported ? source : saved;
  const images = useQuery(imagesListQuery);
  const create = useCreateSession({ template, template_revision: saved.data?.revision });
  const [toSave, setToSave] = useState<SessionCreate>();

  const starter = images.data?.find((image) => image.name === "starter") ?? images.data?.[0];
  const blank = freshForm(starter?.name ?? "starter", mount ? folder.data : undefined);
  const fresh = { ...blank, project, slots: { ...blank.slots, ...starter?.recommended_slots } };
  // What a form without a model begins with must be able to start.
  const room = useQuery({
    ...sessionsCheckQuery(toCheck(me.projects.length < 2 ? { ...fresh, project: "" } : fresh)),
    enabled: opened && from === "new" && !images.isPending,
  });
  const waiting =
    images.isPending ||
    (from === "new" ? room.isPending : like.isPending) ||
    (mount !== undefined && folder.isPending) ||
    (modelled && (model.isPending || folders.isPending));
  const problem = images.error ?? (from !== "new" ? like.error : null) ?? folder.error ?? model.error;
  // Variables and changes of a form belong to what it began with.
  const origin = imported
    ? importOrigin(imported)
    : template === undefined
      ? from
      : `${template} ${JSON.stringify(values ?? {})}`;
  const close = () => {
    create.reset();
    keepVariables(origin, { env: [], roles: [] });
    onClose();
  };
  const tell = (session: SessionDetail) => {
    // The id of the short message that it runs, which this one replaces.
    const { id } = session;
    const message = <StartedNotice id={id} actions={actions} onDone={() => notifications.hide(id)} />;
    notifications.show({
      id,
      title: session.name,
      message,
      autoClose: false,
      closeButtonProps: { "aria-label": t`Close` },
    });
  };

  return (
    <>
      <FormDrawer
        opened={opened}
        onClose={close}
        restored
        size="lg"
        title={like.data ? t`Start a session like ${like.data.name}` : t`Start a session`}
        closeButtonProps={{ "aria-label": t`Close` }}
      >
        {waiting && (
          <Stack aria-busy>
            <Skeleton height={56} />
            <Skeleton height={56} />
            <Skeleton height={96} />
            <Skeleton height={96} />
          </Stack>
        )}
        {!waiting && problem && <ProblemAlert problem={problem} onRetry={() => void images.refetch()} />}
        {!waiting && images.data && (from === "new" || like.data) && (
          <LauncherForm
            templates={from === "new" && !modelled && mount === undefined}
            key={`${origin} ${mount}`}
            from={origin}
            initial={
              like.data
                ? initialForm(me, project, formLike(like.data))
                : model.data
                  ? initialForm(
                      me,
                      project,
                      formOf(
                        model.data.session,
                        mountRows(model.data.session.mounts ?? [], folders.data ?? []),
                        requestedRows(model.data.session),
                      ),
                    )
                  : { ...fresh, slots: startable(fresh.slots, room.data?.slots ?? {}) }
            }
            link={link}
            onLink={opened ? onLink : undefined}
            images={images.data}
            projects={me.projects.map(({ name }) => name)}
            problem={create.error}
            busy={create.isPending}
            onCancel={close}
            onSave={setToSave}
            onSubmit={(request) =>
              create.mutate(request, {
                onSuccess: (session) => {
                  close();
                  tell(session);
                },
              })
            }
          />
        )}
      </FormDrawer>
      <SaveTemplateDialog source={toSave && { request: toSave }} onClose={() => setToSave(undefined)} />
    </>
  );
}

/** Like the session, in its project while the user is a member; otherwise in their usual one. */
function initialForm(me: Me, project: string, form: LaunchForm): LaunchForm {
  return me.projects.some(({ name }) => name === form.project) ? form : { ...form, project };
}
