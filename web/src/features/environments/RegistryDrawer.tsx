import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Stack, Title } from "@mantine/core";
import { IconPencil, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { Registry } from "@/api/types";
import { registriesShowQuery, useCheckRegistry } from "@/queries/registries";
import { DetailDrawer } from "@/ui/DetailDrawer";
import { Facts } from "@/ui/Facts";
import { Instant } from "@/ui/Instant";
import { MainButton } from "@/ui/MainButton";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { StepResults } from "@/ui/StepResults";
import { RegistryScope } from "./RegistryScope";
import { CHECK_STEPS, REGISTRY_KINDS } from "./registry-words";
import { ScanPanel } from "./ScanPanel";
import type { RegistryActs } from "./use-registry-acts";

interface Props {
  opened: boolean;
  id: string;
  acts: RegistryActs;
  onEdit: (registry: Registry) => void;
  onClose: () => void;
}

/** A registry: its settings and a check. */
export function RegistryDrawer({ opened, id, acts, onEdit, onClose }: Props) {
  const { t } = useLingui();
  const query = useQuery(registriesShowQuery(id));
  const registry = query.data;
  return (
    <DetailDrawer
      opened={opened}
      id={id}
      onClose={onClose}
      size="lg"
      title={registry?.name ?? t`Registry`}
      query={query}
      actions={
        registry && (
          <>
            <MainButton
              variant="default"
              icon={IconPencil}
              label={t`Edit`}
              onClick={() => onEdit(registry)}
            />
            <MainButton
              variant="light"
              color="red"
              icon={IconTrash}
              label={t`Remove…`}
              onClick={() => acts.remove(registry, onClose)}
            />
          </>
        )
      }
    >
      {registry && (
        <Stack gap="lg" key={registry.id}>
          <RegistryFacts registry={registry} />
          <ScanPanel registry={registry} />
          <RegistryCheck registry={registry} />
        </Stack>
      )}
    </DetailDrawer>
  );
}

function RegistryFacts({ registry }: { registry: Registry }) {
  const { t } = useLingui();
  const all = t`all`;
  return (
    <Facts
      facts={[
        [t`Kind`, REGISTRY_KINDS[registry.kind].title],
        [t`Address`, registry.url],
        [t`Mirror`, registry.mirror || "–"],
        [t`References`, [registry.host, registry.namespace].filter(Boolean).join("/")],
        [t`Signs in as`, registry.has_secret ? registry.username : "–"],
        ...(registry.password_until
          ? [[t`Password valid until`, <Instant key="until" at={registry.password_until} />] as const]
          : []),
        ...(registry.password_problem ? [[t`Password not renewed`, registry.password_problem] as const] : []),
        [t`Own authority`, registry.ca_pem ? t`yes` : t`no`],
        [t`Repositories`, registry.repositories.join(", ") || all],
        [t`Tags`, registry.tags.join(", ") || all],
        [t`Images`, registry.images_enabled ? t`enabled` : t`enabled one by one`],
        [
          t`Pushes`,
          registry.push === "members" ? t`members, to ${registry.push_repositories.join(", ")}` : t`nobody`,
        ],
        [t`Package databases`, registry.read_packages ? t`read by scans` : t`not read`],
        [t`Scope`, <RegistryScope key="scope" registry={registry} />],
        [t`Created`, <Instant key="created" at={registry.created_at} />],
      ]}
    />
  );
}

function RegistryCheck({ registry }: { registry: Registry }) {
  const { i18n } = useLingui();
  const check = useCheckRegistry();
  const nameOf = (name: string) => {
    const words = CHECK_STEPS[name];
    return words ? i18n._(words) : name;
  };
  return (
    <Stack gap="xs">
      <Title order={3} size="h6">
        <Trans>Check</Trans>
      </Title>
      <Button
        variant="default"
        style={{ alignSelf: "flex-start" }}
        loading={check.isPending}
        onClick={() => check.mutate(registry.id)}
      >
        <Trans>Check now</Trans>
      </Button>
      {check.error && <ProblemAlert problem={check.error} />}
      {check.data && <StepResults ok={check.data.ok} steps={check.data.steps} nameOf={nameOf} />}
    </Stack>
  );
}
