import { useLingui } from "@lingui/react/macro";
import { Drawer, Skeleton, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { imagesListQuery } from "@/queries/images-list";
import { resourcesShowQuery } from "@/queries/resources-show";
import { useCreateSession } from "@/queries/sessions-create";
import { sessionsShowQuery } from "@/queries/sessions-show";
import { useProject } from "@/shell/project";
import { useMe } from "@/shell/use-me";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { LauncherForm } from "./LauncherForm";
import { formLike, type LaunchForm } from "./request";

const GIB = 2 ** 30;

interface Props {
  opened: boolean;
  /** "new", or the id of the session whose settings to start with. */
  from: string;
  onClose: () => void;
}

/** Asks for a session. */
export function LauncherDrawer({ opened, from, onClose }: Props) {
  const { t } = useLingui();
  const me = useMe();
  const project = useProject(me);
  const like = useQuery({ ...sessionsShowQuery(from), enabled: opened && from !== "new" });
  const images = useQuery(imagesListQuery);
  const resources = useQuery(resourcesShowQuery);
  const create = useCreateSession();

  const starter = images.data?.find((image) => image.name === "starter") ?? images.data?.[0];
  const fresh: LaunchForm = { image: starter?.name ?? "starter", name: "", cpu: 1000, mem: GIB, env: [] };
  const waiting = images.isPending || resources.isPending || (from !== "new" && like.isPending);
  const problem = resources.error ?? images.error ?? (from !== "new" ? like.error : null);
  const close = () => {
    create.reset();
    onClose();
  };
  const retry = () => {
    void resources.refetch();
    void images.refetch();
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
      {!waiting && problem && <ProblemAlert problem={problem} onRetry={retry} />}
      {!waiting && images.data && resources.data && (from === "new" || like.data) && (
        <LauncherForm
          key={from}
          initial={like.data ? formLike(like.data) : fresh}
          images={images.data}
          resources={resources.data}
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
