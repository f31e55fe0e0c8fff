import { useLingui } from "@lingui/react/macro";
import { Group } from "@mantine/core";
import { IconPencil, IconPlayerPause, IconPlayerPlay, IconTrash } from "@tabler/icons-react";
import type { Domain } from "@/api/types";
import { RowTool } from "@/ui/table/RowTool";
import type { DomainActs } from "./use-domain-acts";

interface Props {
  domain: Domain;
  acts: DomainActs;
  onEdit: (domain: Domain) => void;
}

/** The row buttons of a domain. */
export function DomainTools({ domain, acts, onEdit }: Props) {
  const { t } = useLingui();
  const change = acts.why("domain.update", domain);
  const { name } = domain;
  return (
    <Group gap={0} wrap="nowrap" justify="flex-end">
      <RowTool label={t`Edit`} row={name} icon={IconPencil} refusal={change} onClick={() => onEdit(domain)} />
      {domain.active ? (
        <RowTool
          label={t`Disable`}
          row={name}
          icon={IconPlayerPause}
          refusal={acts.whyNotDisable(domain)}
          onClick={() => acts.disable(domain)}
        />
      ) : (
        <RowTool
          label={t`Enable`}
          row={name}
          icon={IconPlayerPlay}
          refusal={change}
          onClick={() => void acts.enable(domain)}
        />
      )}
      <RowTool
        label={t`Remove`}
        row={name}
        icon={IconTrash}
        color="red"
        refusal={acts.whyNotRemove(domain)}
        onClick={() => acts.remove(domain)}
      />
    </Group>
  );
}
