import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Button, Checkbox, Group, Input, Paper, Select, Stack, TextInput } from "@mantine/core";
import { IconPlus, IconX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { projectsChoiceQuery } from "@/queries/projects";
import type { Rule } from "./form-values";

interface Props {
  rules: Rule[];
  /** Id of the domain whose projects can be assigned. */
  domain: string;
  /** Whether its groups may grant the superadmin role. */
  superadmins: boolean;
  error?: ReactNode;
  onChange: (rules: Rule[]) => void;
}

/** The mapping of provider groups to projects and roles. */
export function MappingInput({ rules, domain, superadmins, error, onChange }: Props) {
  const { t } = useLingui();
  const projects = useQuery(projectsChoiceQuery(domain || undefined)).data ?? [];
  const set = (at: number, part: Partial<Rule>) =>
    onChange(rules.map((rule, index) => (index === at ? { ...rule, ...part } : rule)));
  const roles = [
    { value: "", label: t`No role` },
    { value: "domain_admin", label: t`Domain administrator` },
    { value: "superadmin", label: t`Superadmin`, disabled: !superadmins },
  ];
  return (
    <Input.Wrapper
      label={t`Group mappings`}
      description={t`Updated each time a user signs in.`}
      labelElement="div"
      error={error}
    >
      <Stack gap="xs" mt={6}>
        {rules.map((rule, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rules have no id while they are edited
          <Paper key={at} withBorder p="xs">
            <Group gap="xs" align="flex-end">
              <TextInput
                size="xs"
                style={{ flex: "1 1 10rem" }}
                label={t`Group`}
                placeholder="staff"
                value={rule.group}
                onChange={(event) => set(at, { group: event.currentTarget.value })}
              />
              <Select
                size="xs"
                w={150}
                label={t`Project`}
                clearable
                clearButtonProps={{ "aria-label": t`None` }}
                data={projects.map(({ id, name }) => ({ value: id, label: name }))}
                value={rule.project || null}
                onChange={(project) => set(at, { project: project ?? "" })}
              />
              <Checkbox
                size="xs"
                mb={6}
                label={t`project administrator`}
                disabled={rule.project === ""}
                checked={rule.admin}
                onChange={(event) => set(at, { admin: event.currentTarget.checked })}
              />
              <Select
                size="xs"
                w={170}
                label={t`Role`}
                allowDeselect={false}
                data={roles}
                value={rule.role}
                onChange={(role) => set(at, { role: role ?? "" })}
              />
              <ActionIcon
                variant="subtle"
                color="gray"
                mb={2}
                aria-label={t`Remove the rule for ${rule.group}`}
                onClick={() => onChange(rules.filter((_, index) => index !== at))}
              >
                <IconX size={15} aria-hidden />
              </ActionIcon>
            </Group>
          </Paper>
        ))}
        <Group>
          <Button
            size="compact-xs"
            variant="subtle"
            leftSection={<IconPlus size={13} aria-hidden />}
            onClick={() => onChange([...rules, { group: "", project: "", admin: false, role: "" }])}
          >
            <Trans>Another group</Trans>
          </Button>
        </Group>
      </Stack>
    </Input.Wrapper>
  );
}
