import { useLingui } from "@lingui/react/macro";
import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { templatesShowQuery } from "@/queries/templates";
import { FormDrawer } from "@/ui/form/FormDrawer";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { TemplateForm } from "./TemplateForm";

interface Props {
  /** "new", or the template to edit. */
  id: string;
  opened: boolean;
  onClose: () => void;
}

/** Creates or edits a template. */
export function TemplateDrawer({ id, opened, onClose }: Props) {
  const { t } = useLingui();
  const fresh = id === "new";
  const template = useQuery({ ...templatesShowQuery(id), enabled: opened && !fresh });
  const { data, error } = template;
  return (
    <FormDrawer
      opened={opened}
      onClose={onClose}
      size="48rem"
      title={fresh ? t`New template` : data ? t`Edit ${data.name}` : t`Edit template`}
      closeButtonProps={{ "aria-label": t`Close` }}
    >
      {(fresh || data) && (
        <TemplateForm
          key={id}
          template={fresh ? undefined : data}
          onDone={onClose}
          onReload={template.refetch}
        />
      )}
      {!fresh && !data && error && <ProblemAlert problem={error} onRetry={() => void template.refetch()} />}
      {!fresh && !data && !error && <Skeleton height={320} aria-busy />}
    </FormDrawer>
  );
}
