import { Trans, useLingui } from "@lingui/react/macro";
import { Anchor, Stack, Title } from "@mantine/core";
import { IconArchive, IconArchiveOff, IconPencil, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { WholeProject } from "@/api/types";
import { FoldersTab } from "@/features/folders/FoldersTab";
import { PolicyOf } from "@/features/policies/PolicyOf";
import { Loads } from "@/features/resources/Loads";
import { SessionsTab } from "@/features/sessions/SessionsTab";
import { UsageHistory } from "@/features/usage/UsageHistory";
import { may } from "@/me/may";
import { useMe } from "@/me/use-me";
import { projectsShowQuery } from "@/queries/projects";
import type { PlaceTab } from "@/routing/search";
import { DetailDrawer } from "@/ui/DetailDrawer";
import { DetailTabs } from "@/ui/DetailTabs";
import { Facts } from "@/ui/Facts";
import { Instant } from "@/ui/Instant";
import { MainButton } from "@/ui/MainButton";
import { CeilingsText } from "./CeilingsText";
import { projectLoads } from "./columns";
import { Members } from "./Members";
import type { ProjectActs } from "./use-project-acts";

interface Props {
  opened: boolean;
  id: string;
  tab: PlaceTab | undefined;
  acts: ProjectActs;
  onTab: (tab: PlaceTab | undefined) => void;
  onEdit: (project: WholeProject) => void;
  onClose: () => void;
}

/** Details of a project, and its members. */
export function ProjectDrawer({ opened, id, tab, acts, onTab, onEdit, onClose }: Props) {
  const { t } = useLingui();
  const query = useQuery(projectsShowQuery(id));
  const project = query.data;
  const me = useMe();
  const reads = project && may(me, "usage.read", { project: project.id, domain: project.domain.id });
  return (
    <DetailDrawer
      opened={opened}
      id={id}
      onClose={onClose}
      size="xl"
      title={project?.name ?? t`Project`}
      query={query}
      actions={
        project && (
          <>
            {" "}
            <MainButton
              variant="default"
              icon={IconPencil}
              label={t`Edit`}
              refusal={acts.why("project.update", project)}
              onClick={() => onEdit(project)}
            />
            {project.archived_at ? (
              <MainButton
                variant="default"
                icon={IconArchiveOff}
                label={t`Restore`}
                refusal={acts.why("project.update", project)}
                onClick={() => void acts.restore(project)}
              />
            ) : (
              <MainButton
                variant="default"
                icon={IconArchive}
                label={t`Archive…`}
                refusal={acts.why("project.update", project)}
                onClick={() => acts.archive(project)}
              />
            )}
            <MainButton
              variant="light"
              color="red"
              icon={IconTrash}
              label={t`Remove…`}
              refusal={acts.whyNotRemove(project)}
              onClick={() => acts.remove(project, onClose)}
            />
          </>
        )
      }
    >
      {project && (
        <DetailTabs
          value={tab}
          onChange={onTab}
          tabs={[
            {
              name: "overview",
              label: t`Overview`,
              content: (
                <Stack gap="lg">
                  <Loads loads={projectLoads(project)} />
                  <ProjectFacts project={project} />
                  {reads && <UsageHistory scope="project" id={project.id} />}
                  <section>
                    <Title order={2} size="h4" mb="sm">
                      <Trans>Members</Trans>
                    </Title>
                    <Members project={project} refusal={acts.why("project.enrol", project)} />
                  </section>
                </Stack>
              ),
            },
            {
              name: "sessions",
              label: t`Sessions`,
              content: <SessionsTab of={{ domain: project.domain.name, project: project.name }} />,
            },
            { name: "folders", label: t`Folders`, content: <FoldersTab of={{ project: project.name }} /> },
          ]}
        />
      )}
    </DetailDrawer>
  );
}

function ProjectFacts({ project }: { project: WholeProject }) {
  const { t } = useLingui();
  return (
    <Facts
      facts={[
        [t`Domain`, project.domain.name],
        [t`Description`, project.description],
        [t`Limits`, <CeilingsText key="ceilings" ceilings={project.ceilings} />],
        [
          t`Resource policy`,
          <PolicyOf
            key="policy"
            policy={project.policy}
            holder={{ kind: "projects", id: project.id, label: project.name }}
            whose={{ project: project.id, domain: project.domain.id }}
          />,
        ],
        [
          t`Live sessions`,
          <Anchor
            key="sessions"
            size="sm"
            renderRoot={(props) => (
              <Link {...props} to="/sessions" search={{ owner: "all", project: project.name }} />
            )}
          >
            {project.live_sessions}
          </Anchor>,
        ],
        [t`Created`, <Instant key="created" at={project.created_at} />],
        [t`Archived`, project.archived_at !== null && <Instant key="archived" at={project.archived_at} />],
      ]}
    />
  );
}
