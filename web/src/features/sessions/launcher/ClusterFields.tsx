import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, NumberInput, Select, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { type LaunchForm, ONE_CONTAINER } from "./request";

type Fields = Pick<LaunchForm, "containers" | "placement" | "on_failure" | "roles">;

interface Props {
  values: Fields;
  /** The error of each field. */
  errors: { [Field in keyof Fields]?: ReactNode };
  onChange: (part: Partial<Fields>) => void;
}

/** How many containers the session has, and what holds for several. */
export function ClusterFields({ values, errors, onChange }: Props) {
  const { t } = useLingui();
  const several = values.containers > 1 || values.roles.length > 0;
  return (
    <>
      {values.roles.length > 0 ? (
        <CopiedRoles values={values} onChange={onChange} />
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
      {several && (
        <>
          <Select
            label={t`Placement`}
            size="xs"
            allowDeselect={false}
            data={[
              { value: "spread", label: t`On any nodes that reach each other` },
              { value: "together", label: t`All on one node` },
            ]}
            value={values.placement}
            onChange={(placement) => placement && onChange({ placement: placement as Fields["placement"] })}
          />
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

/** The roles of the session that the form was copied from. */
function CopiedRoles({ values, onChange }: Pick<Props, "values" | "onChange">) {
  const roles = values.roles.map(({ name, count = 1 }) => `${name} ×${count}`).join(", ");
  return (
    <Group justify="space-between">
      <Text size="xs">
        <Plural value={values.roles.length} one="Role" other="Roles" />: {roles}
      </Text>
      <Button size="compact-xs" variant="default" onClick={() => onChange(ONE_CONTAINER)}>
        <Trans>One container instead</Trans>
      </Button>
    </Group>
  );
}
