import { Trans, useLingui } from "@lingui/react/macro";
import { Skeleton, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useRef } from "react";
import { siteShowQuery } from "@/queries/site";
import { useJump } from "@/routing/use-jump";
import { PageTitle } from "@/ui/PageTitle";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { usePageTitle } from "@/ui/use-page-title";
import { SiteContents } from "./SiteContents";
import { SiteForm } from "./SiteForm";
import styles from "./SitePage.module.css";

/** The settings of the installation. */
export function SitePage() {
  const { t } = useLingui();
  const site = useQuery(siteShowQuery);
  const page = useRef<HTMLDivElement>(null);
  const settings = useRef<HTMLDivElement>(null);
  usePageTitle(t`Configuration`);
  useJump(page);
  return (
    <Stack ref={page} p="md" gap="md">
      <div>
        <PageTitle>
          <Trans>Configuration</Trans>
        </PageTitle>
        <Text size="sm" c="dimmed">
          <Trans>Settings apply to the whole site immediately, without a restart.</Trans>
        </Text>
      </div>
      {site.isPending && [1, 2, 3].map((key) => <Skeleton key={key} height={160} aria-busy />)}
      {site.isError && <ProblemAlert problem={site.error} onRetry={() => void site.refetch()} />}
      {site.data && (
        <div className={styles.page}>
          <SiteContents host={settings} />
          <div ref={settings} className={styles.settings}>
            <SiteForm site={site.data} />
          </div>
        </div>
      )}
    </Stack>
  );
}
