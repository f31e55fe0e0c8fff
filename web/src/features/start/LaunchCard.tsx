import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Stack, Text, Title } from "@mantine/core";
import { IconBolt, IconPlus } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { Image, Session, SessionCreate } from "@/api/types";
import { requestLike } from "@/features/sessions/launcher/request";
import { SlotsText } from "@/features/sessions/SlotsText";
import { sessionsShowQuery, useCreateSession } from "@/queries/sessions";
import panel from "@/ui/Panel.module.css";
import { ProblemAlert } from "@/ui/ProblemAlert";
import styles from "./StartPage.module.css";

const GIB = 2 ** 30;

interface Props {
  /** The user's newest session, whose settings can be reused. */
  last: Session | undefined;
  images: Image[] | undefined;
}

export function LaunchCard({ last, images }: Props) {
  const { t } = useLingui();
  const navigate = useNavigate();
  const client = useQueryClient();
  const create = useCreateSession();
  const starter = images?.find((image) => image.name === "starter") ?? images?.[0];
  const first: SessionCreate | undefined = starter && { image: starter.name, slots: { cpu: 1000, mem: GIB } };
  const shown = last ? { image: last.image_name ?? last.image, slots: last.slots } : first;

  const startLikeLast = async () => {
    const request = last ? requestLike(await client.fetchQuery(sessionsShowQuery(last.id))) : first;
    if (!request) return;
    create.mutate(request, {
      onSuccess: (session) => void navigate({ to: "/sessions", search: { session: session.id } }),
    });
  };

  return (
    <section className={`${panel.panel} ${styles.hero}`} aria-label={t`Start a session`}>
      <Stack gap="sm">
        <Title order={2} size="h4">
          <Trans>Start a session</Trans>
        </Title>
        <Text size="sm" c="dimmed">
          <Trans>A Linux environment with a terminal and JupyterLab, ready in seconds.</Trans>
        </Text>
        {create.error && <ProblemAlert problem={create.error} />}
        <Group gap="sm">
          <Button
            leftSection={<IconPlus size={16} aria-hidden />}
            onClick={() => void navigate({ to: "/sessions", search: { launch: "new" } })}
          >
            <Trans>Start with options</Trans>
          </Button>
          <Button
            variant="default"
            leftSection={<IconBolt size={16} aria-hidden />}
            disabled={!shown}
            loading={create.isPending}
            onClick={() => void startLikeLast()}
          >
            {last ? <Trans>Start again</Trans> : <Trans>Start the default session</Trans>}
          </Button>
        </Group>
        {shown && (
          <Text size="xs" c="dimmed">
            {last ? <Trans>Last session:</Trans> : <Trans>Default session:</Trans>} {shown.image} ·{" "}
            <SlotsText slots={shown.slots} />
          </Text>
        )}
      </Stack>
    </section>
  );
}
