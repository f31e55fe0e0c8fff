import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Input, NumberInput, Select } from "@mantine/core";
import type { ComponentProps, ReactNode } from "react";
import { RoleFields } from "./RoleFields";
import { type LaunchForm, ONE_CONTAINER } from "./request";
import type { LaunchRole } from "./roles";

type Fields = Pick<LaunchForm, "containers" | "placement" | "topology" | "on_failure" | "roles" | "slots">;

/** The narrowest level of every topology. */
const NODE = "node";

const FIRST_ROLES: LaunchRole[] = [
  { name: "main", count: 1 },
  { name: "worker", count: 2 },
];

interface Props extends Pick<ComponentProps<typeof RoleFields>, "slotNames"> {
  values: Fields;
  /** The levels of the group's topology, from narrow to wide; the first is a node. */
  levels: string[];
  /** The error of each field. */
  errors: { [Field in keyof Fields]?: ReactNode };
  onChange: (part: Partial<Fields>) => void;
}

/** How many containers the session has, and what holds for several. */
export function ClusterFields({ values, levels, errors, slotNames, onChange }: Props) {
  const { t } = useLingui();
  const layered = levels.length > 1;
  const several = values.containers > 1 || values.roles.length > 0;
  return (
    <>
      {values.roles.length > 0 ? (
        <RoleFields
          roles={values.roles}
          slots={values.slots}
          slotNames={slotNames}
          error={errors.roles}
          onChange={(roles) => onChange(roles.length > 0 ? { roles } : ONE_CONTAINER)}
        />
      ) : (
        <NumberInput
          label={t`Containers`}
          description={t`More than one make a cluster: main1, sub1, sub2 … with these resources each, in a private network with SSH between them.`}
          size="xs"
          min={1}
          max={256}
          clampBehavior="none"
          allowDecimal={false}
          value={values.containers}
          error={errors.containers}
          onChange={(value) => onChange({ containers: Number(value) || 1 })}
        />
      )}
      {errors.roles && <Input.Error>{errors.roles}</Input.Error>}
      <Group>
        {values.roles.length > 0 ? (
          <Button size="compact-xs" variant="default" onClick={() => onChange(ONE_CONTAINER)}>
            <Trans>One container instead</Trans>
          </Button>
        ) : (
          <Button size="compact-xs" variant="subtle" onClick={() => onChange({ roles: FIRST_ROLES })}>
            <Trans>Containers that differ…</Trans>
          </Button>
        )}
      </Group>
      {several && (
        <>
          <Select
            label={t`Placement`}
            size="xs"
            allowDeselect={false}
            data={[
              { value: "spread", label: t`On any nodes that reach each other` },
              { value: "together", label: layered ? t`On one node or near each other` : t`All on one node` },
            ]}
            value={values.placement}
            onChange={(placement) => placement && onChange({ placement: placement as Fields["placement"] })}
          />
          {(layered || values.topology) && (
            <Select
              label={t`All within one`}
              description={t`The session waits until one has room for all of its containers.`}
              placeholder={t`not required`}
              size="xs"
              clearable
              data={[...new Set([...levels, ...(values.topology ? [values.topology] : [])])].map((level) => ({
                value: level,
                label: level === NODE ? t`node` : level,
              }))}
              value={values.topology || null}
              error={errors.topology}
              onChange={(topology) => onChange({ topology: topology ?? "" })}
            />
          )}
          <Select
            label={t`If a container fails`}
            description={t`The session always ends with its main container.`}
            size="xs"
            allowDeselect={false}
            data={[
              { value: "end", label: t`End the session` },
              { value: "continue", label: t`Continue without it` },
            ]}
            value={values.on_failure}
            onChange={(choice) => choice && onChange({ on_failure: choice as Fields["on_failure"] })}
          />
        </>
      )}
    </>
  );
}
