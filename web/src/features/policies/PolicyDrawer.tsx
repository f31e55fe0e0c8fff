import { Trans, useLingui } from "@lingui/react/macro";
import { Stack, Text } from "@mantine/core";
import { IconCopy, IconPencil, IconTrash } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { Policy } from "@/api/types";
import { policiesOverQuery, policiesShowQuery } from "@/queries/policies";
import { CommandLine } from "@/ui/CommandLine";
import { commandLine } from "@/ui/command";
import { DetailDrawer } from "@/ui/DetailDrawer";
import { Facts } from "@/ui/Facts";
import { Instant } from "@/ui/Instant";
import { MainButton } from "@/ui/MainButton";
import { KIND_TEXTS, LIMIT_TITLES } from "./limit-words";
import { limitsFor, limitsOf } from "./limits";
import { OverNotice } from "./OverNotice";
import { UsedBy } from "./UsedBy";
import { useLimitsText } from "./use-limits-text";
import type { PolicyActs } from "./use-policy-acts";

interface Props {
  opened: boolean;
  id: string;
  acts: PolicyActs;
  onEdit: (policy: Policy) => void;
  onClose: () => void;
}

/** A resource policy: its limits, its holders, and those who exceed it. */
export function PolicyDrawer({ opened, id, acts, onEdit, onClose }: Props) {
  const { t } = useLingui();
  const query = useQuery(policiesShowQuery(id));
  const policy = query.data;
  return (
    <DetailDrawer
      opened={opened}
      id={id}
      onClose={onClose}
      size="lg"
      title={policy?.name ?? t`Resource policy`}
      query={query}
      actions={
        policy && (
          <>
            {" "}
            <MainButton
              variant="default"
              icon={IconPencil}
              label={t`Edit`}
              refusal={acts.whyNotChange}
              onClick={() => onEdit(policy)}
            />
            <MainButton
              variant="default"
              icon={IconCopy}
              label={t`Copy…`}
              refusal={acts.whyNotMake}
              onClick={() => acts.copy(policy)}
            />
            <MainButton
              variant="light"
              color="red"
              icon={IconTrash}
              label={t`Remove…`}
              refusal={acts.whyNotRemove(policy)}
              onClick={() => acts.remove(policy, onClose)}
            />
          </>
        )
      }
    >
      {policy && (
        <Stack gap="lg">
          <PolicyFacts policy={policy} />
          {acts.whyNotChange === null && <OverNow id={policy.id} />}
          <CommandLine text={commandLine("carrel", "policy", "show", policy.id)} />
        </Stack>
      )}
    </DetailDrawer>
  );
}

function PolicyFacts({ policy }: { policy: Policy }) {
  const { t, i18n } = useLingui();
  const { one } = useLimitsText();
  const limits = limitsFor(policy);
  return (
    <>
      <Text size="sm" c="dimmed">
        {i18n._(KIND_TEXTS[policy.kind])}{" "}
        {policy.default && <Trans>Default policy: applies unless another policy is assigned.</Trans>}
      </Text>
      <Facts
        facts={[
          [t`Description`, policy.description],
          ...limitsOf(policy.kind).map(
            ([name, measure]) => [i18n._(LIMIT_TITLES[name]), one(measure, limits[name])] as const,
          ),
          [t`Used by`, <UsedBy key="used" policy={policy} />],
          [t`Created`, <Instant key="created" at={policy.created_at} />],
        ]}
      />
    </>
  );
}

/** The holders that exceed the saved policy. */
function OverNow({ id }: { id: string }) {
  const query = useQuery({ ...policiesOverQuery(id, {}), placeholderData: keepPreviousData });
  return query.data && query.data.length > 0 ? <OverNotice query={query} /> : null;
}
