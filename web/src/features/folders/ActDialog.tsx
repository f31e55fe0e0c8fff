import { useLingui } from "@lingui/react/macro";
import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { foldersShowQuery } from "@/queries/folders";
import type { FolderAct } from "@/routing/search";
import { FormModal } from "@/ui/form/FormDrawer";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { CloneForm } from "./CloneForm";
import { HandOverForm } from "./HandOverForm";
import { MoveForm } from "./MoveForm";

interface Props {
  opened: boolean;
  act: FolderAct;
  id: string;
  onClose: () => void;
}

const FORMS = { clone: CloneForm, move: MoveForm, "hand-over": HandOverForm } as const;

/** Dialog to clone, move or transfer a folder. */
export function ActDialog({ opened, act, id, onClose }: Props) {
  const { t } = useLingui();
  const query = useQuery(foldersShowQuery(id));
  const name = query.data?.name ?? "";
  const titles: Record<FolderAct, string> = {
    clone: t`Clone ${name}`,
    move: t`Move ${name} to another host`,
    "hand-over": t`Transfer ownership of ${name}`,
  };
  const Form = FORMS[act];
  return (
    <FormModal
      opened={opened}
      onClose={onClose}
      title={titles[act]}
      closeButtonProps={{ "aria-label": t`Close` }}
    >
      {query.isPending && <Skeleton height={160} aria-busy />}
      {query.isError && <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />}
      {query.data && <Form key={id} folder={query.data} onDone={onClose} />}
    </FormModal>
  );
}
