import { useLingui } from "@lingui/react/macro";
import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { appTemplatesShowQuery } from "@/queries/app-templates";
import { FormDrawer } from "@/ui/form/FormDrawer";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { AppForm } from "./AppForm";

interface Props {
  /** "new", "copy:" and an app template to copy, or the one to show or edit. */
  id: string;
  opened: boolean;
  onClose: () => void;
}

/** Creates, copies, edits or shows an app template. */
export function AppDrawer({ id, opened, onClose }: Props) {
  const { t } = useLingui();
  const isNew = id === "new";
  const isCopy = id.startsWith("copy:");
  const source = useQuery({ ...appTemplatesShowQuery(id.replace(/^copy:/, "")), enabled: opened && !isNew });
  const { data, error } = source;
  return (
    <FormDrawer
      opened={opened}
      onClose={onClose}
      size="44rem"
      title={isNew || isCopy ? t`New app` : (data?.title ?? t`Edit app`)}
      closeButtonProps={{ "aria-label": t`Close` }}
    >
      {(isNew || data) && <AppForm key={id} source={data} isNew={isNew || isCopy} onDone={onClose} />}
      {!isNew && !data && error && <ProblemAlert problem={error} onRetry={() => void source.refetch()} />}
      {!isNew && !data && !error && <Skeleton height={320} aria-busy />}
    </FormDrawer>
  );
}
