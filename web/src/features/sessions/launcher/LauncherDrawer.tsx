import { useLingui } from "@lingui/react/macro";
import { Drawer, Skeleton, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useProject } from "@/me/project";
import { useMe } from "@/me/use-me";
import { foldersShowQuery } from "@/queries/folders";
import { imagesListQuery } from "@/queries/images";
import { sessionsShowQuery, useCreateSession } from "@/queries/sessions";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { LauncherForm } from "./LauncherForm";
import { formLike, freshForm } from "./request";

interface Props {
  opened: boolean;
  /** "new", or the id of the session to copy the settings from. */
  from: string;
  /** Id of a folder to mount. */
  mount: string | undefined;
  onClose: () => void;
}

/** The session launcher. */
export function LauncherDrawer({ opened, from, mount, onClose }: Props) {
  const { t } = useLingui();
  const me = useMe();
  const project = useProject(me);
  const like = useQuery({ ...sessionsShowQuery(from), enabled: opened && from !== "new" });
  const folder = useQuery({ ...foldersShowQuery(mount ?? ""), enabled: opened && mount !== undefined });
  const images = useQuery(imagesListQuery);
  const create = useCreateSession();

  const starter = images.data?.find((image) => image.name === "starter") ?? images.data?.[0];
  const waiting =
    images.isPending || (from !== "new" && like.isPending) || (mount !== undefined && folder.isPending);
  const problem = images.error ?? (from !== "new" ? like.error : null) ?? folder.error;
  const close = () => {
    create.reset();
    onClose();
  };

  return (
    <Drawer
      opened={opened}
      onClose={close}
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
          key={`${from} ${mount}`}
          initial={
            like.data
              ? formLike(like.data)
              : freshForm(starter?.name ?? "starter", mount ? folder.data : undefined)
          }
          images={images.data}
          project={me.projects.length > 1 ? project?.name : undefined}
          problem={create.error}
          busy={create.isPending}
          onCancel={close}
          onSubmit={(request) => create.mutate(request, { onSuccess: close })}
        />
      )}
    </Drawer>
  );
}
