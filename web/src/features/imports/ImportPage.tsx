import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Skeleton, Text } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { toProblem } from "@/api/problem";
import { keepVariables } from "@/features/sessions/launcher/link";
import { environmentRow } from "@/features/sessions/launcher/variables";
import { foldersChoiceQuery } from "@/queries/folders";
import { importsPreviewQuery } from "@/queries/imports";
import { importOrigin } from "@/routing/import-link";
import { useAddress } from "@/routing/use-address";
import { CommandLine } from "@/ui/CommandLine";
import { EmptyState } from "@/ui/EmptyState";
import { PageTitle } from "@/ui/PageTitle";
import panel from "@/ui/Panel.module.css";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { usePageTitle } from "@/ui/use-page-title";
import { BadgePanel } from "./BadgePanel";
import { ImportFields } from "./ImportFields";
import styles from "./ImportPage.module.css";
import { PreviewPanel } from "./PreviewPanel";
import { importCommand } from "./words";

const route = getRouteApi("/shell/import");

/** Fetches notebooks, repositories and archives by their address. Nothing starts here: the launcher does that. */
export function ImportPage() {
  const { t } = useLingui();
  const link = route.useSearch();
  const change = useAddress<typeof link>();
  const navigate = useNavigate();
  const [secret, setSecret] = useState("");
  const [intoFolder, setIntoFolder] = useState(link.folder !== undefined);
  const folders = useQuery(foldersChoiceQuery).data ?? [];
  const preview = useQuery({ ...importsPreviewQuery(link), enabled: link.url !== undefined });
  const { data, error } = preview;
  usePageTitle(t`Import & Run`);
  const folder = folders.find(({ id }) => id === link.folder)?.name ?? link.folder ?? "";
  const lacking =
    link.credentials && secret.trim() === ""
      ? link.credentials === "key"
        ? t`Enter the key first.`
        : t`Enter the token first.`
      : intoFolder && !link.folder
        ? t`Choose the folder first.`
        : null;

  const open = () => {
    if (data?.variable) {
      keepVariables(importOrigin(link), { env: [environmentRow(data.variable, secret.trim())], roles: [] });
    }
    void navigate({ to: "/sessions", search: { launch: "new", import: link } });
  };

  return (
    <div className={styles.page}>
      <PageTitle>
        <Trans>Import & Run</Trans>
      </PageTitle>
      <Text size="sm" c="dimmed" mt={4} mb="md">
        <Trans>
          A session fetches the source and opens it. To run a notebook of this computer, upload it to a folder
          in <DataLink />.
        </Trans>
      </Text>
      <div className={styles.columns}>
        <section className={panel.panel} aria-label={t`Source`}>
          <ImportFields
            link={link}
            onChange={change}
            folders={folders}
            intoFolder={intoFolder}
            onIntoFolder={setIntoFolder}
            problem={error && toProblem(error)}
            secret={secret}
            onSecret={setSecret}
          />
        </section>
        <section className={panel.panel} aria-label={t`Preview`} aria-busy={preview.isFetching}>
          {!link.url && (
            <EmptyState
              title={t`Nothing to import yet`}
              text={t`Paste the address of a notebook, a Git repository, a model, dataset or Space of Hugging Face, or an archive.`}
            />
          )}
          {link.url && error && <ProblemAlert problem={error} onRetry={() => void preview.refetch()} />}
          {link.url && !error && !data && <Skeleton height={220} />}
          {link.url && !error && data && (
            <PreviewPanel
              preview={data}
              action={
                <>
                  <CommandLine text={importCommand(link, folder)} />
                  <Group justify="flex-end">
                    <Button
                      leftSection={<IconPlayerPlay size={16} aria-hidden />}
                      disabled={lacking !== null}
                      onClick={open}
                    >
                      <Trans>Continue in the launcher</Trans>
                    </Button>
                  </Group>
                  {lacking && (
                    <Text size="xs" c="dimmed" ta="end">
                      {lacking}
                    </Text>
                  )}
                </>
              }
            />
          )}
        </section>
        {link.url && data && <BadgePanel link={link} />}
      </div>
    </div>
  );
}

function DataLink() {
  return (
    <Link to="/data" className={styles.link}>
      <Trans>Data</Trans>
    </Link>
  );
}
