import { useLingui } from "@lingui/react/macro";
import { Group } from "@mantine/core";
import { IconArchive, IconArchiveOff, IconPencil, IconTrash } from "@tabler/icons-react";
import type { WholeProject } from "@/api/types";
import { RowTool } from "@/ui/table/RowTool";
import type { ProjectActs } from "./use-project-acts";

interface Props {
  project: WholeProject;
  acts: ProjectActs;
  onEdit: (project: WholeProject) => void;
}

/** The row buttons of a project. */
export function ProjectTools({ project, acts, onEdit }: Props) {
  const { t } = useLingui();
  const change = acts.why("project.update", project);
  const { name } = project;
  return (
    <Group gap={0} wrap="nowrap" justify="flex-end">
      <RowTool
        label={t`Edit`}
        row={name}
        icon={IconPencil}
        refusal={change}
        onClick={() => onEdit(project)}
      />
      {project.archived_at ? (
        <RowTool
          label={t`Restore`}
          row={name}
          icon={IconArchiveOff}
          refusal={change}
          onClick={() => void acts.restore(project)}
        />
      ) : (
        <RowTool
          label={t`Archive`}
          row={name}
          icon={IconArchive}
          refusal={change}
          onClick={() => acts.archive(project)}
        />
      )}
      <RowTool
        label={t`Remove`}
        row={name}
        icon={IconTrash}
        color="red"
        refusal={acts.whyNotRemove(project)}
        onClick={() => acts.remove(project)}
      />
    </Group>
  );
}
