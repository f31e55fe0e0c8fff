import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Select } from "@mantine/core";
import { IconTemplate } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { templatesChoiceQuery } from "@/queries/templates";

/** Begins from a template: opens the form of its parameters. Nothing while there are none. */
export function TemplateChoice() {
  const { t } = useLingui();
  const navigate = useNavigate();
  const templates = useQuery(templatesChoiceQuery).data ?? [];
  if (templates.length === 0) return null;
  return (
    <Select
      label={t`Template`}
      placeholder={t`None; choose one to start from`}
      searchable
      comboboxProps={{ shadow: "md" }}
      data={templates.map(({ id, name }) => ({ value: id, label: name }))}
      value={null}
      onChange={(id) => id && void navigate({ to: "/templates", search: { open: id } })}
    />
  );
}

/** Offers to save the request as a template. */
export function SaveRequestButton({ onClick }: { onClick: () => void }) {
  return (
    <Group>
      <Button
        size="compact-sm"
        variant="subtle"
        leftSection={<IconTemplate size={15} aria-hidden />}
        onClick={onClick}
      >
        <Trans>Save as template…</Trans>
      </Button>
    </Group>
  );
}
