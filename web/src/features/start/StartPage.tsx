import { Trans, useLingui } from "@lingui/react/macro";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useSessionActions } from "@/features/sessions/use-actions";
import { useMe } from "@/me/use-me";
import { imagesListQuery } from "@/queries/images";
import { resourcesShowQuery } from "@/queries/resources";
import { sessionsListQuery } from "@/queries/sessions";
import { PageTitle } from "@/ui/PageTitle";
import { CommandCard } from "./CommandCard";
import { LaunchCard } from "./LaunchCard";
import { RecentCard } from "./RecentCard";
import { ResourcesCard } from "./ResourcesCard";
import styles from "./StartPage.module.css";

/** The start page. */
export function StartPage() {
  const { t } = useLingui();
  const me = useMe();
  const actions = useSessionActions();
  const recent = useInfiniteQuery(sessionsListQuery({ state: "all", q: "", owner: "me" }));
  const resources = useQuery(resourcesShowQuery);
  const images = useQuery(imagesListQuery);
  const sessions = recent.data?.pages[0]?.items ?? [];
  const name = me.user.name || me.user.email.split("@")[0];
  return (
    <div className={styles.page}>
      <PageTitle className={styles.greeting}>
        <Trans>Welcome, {name}</Trans>
      </PageTitle>
      <div className={styles.cards}>
        <LaunchCard last={sessions[0]} images={images.data} />
        <ResourcesCard resources={resources.data} problem={resources.error} />
        <RecentCard
          label={t`Recent sessions`}
          sessions={sessions.slice(0, 6)}
          loading={recent.isPending}
          problem={recent.error}
          onRetry={() => void recent.refetch()}
          actions={actions}
        />
        <CommandCard email={me.user.email} running={sessions.find((one) => one.state === "RUNNING")?.name} />
      </div>
    </div>
  );
}
