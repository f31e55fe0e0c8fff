import { Trans, useLingui } from "@lingui/react/macro";
import { Checkbox, MultiSelect, Select, Skeleton, TagsInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ImageDetail } from "@/api/types";
import { ImageField } from "@/features/sessions/launcher/ImageField";
import { domainsChoiceQuery } from "@/queries/domains";
import { groupsChoiceQuery } from "@/queries/groups";
import { imagesShowQuery, useUpdateImage } from "@/queries/images";
import { nodesAllQuery } from "@/queries/nodes";
import { projectsChoiceQuery } from "@/queries/projects";
import { Form } from "@/ui/form/Form";
import { FormDrawer } from "@/ui/form/FormDrawer";
import { focusFirst, useProblemForm } from "@/ui/form/use-problem-form";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { ImageSlotsInput } from "./ImageSlotsInput";
import { type ImageValues, imageChanges, imageCommand, imageValues } from "./image-values";
import { WatchFields } from "./WatchFields";

interface Props {
  opened: boolean;
  id: string;
  onClose: () => void;
}

/** Edits the settings of an image. */
export function ImageFormDrawer({ opened, id, onClose }: Props) {
  const { t } = useLingui();
  const query = useQuery(imagesShowQuery(id));
  return (
    <FormDrawer
      opened={opened}
      onClose={onClose}
      size="lg"
      title={t`Edit ${query.data?.name ?? t`image`}`}
      closeButtonProps={{ "aria-label": t`Close` }}
    >
      {query.data ? (
        <ImageForm key={id} image={query.data} onDone={onClose} />
      ) : query.isError ? (
        <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <Skeleton height={320} aria-busy />
      )}
    </FormDrawer>
  );
}

function ImageForm({ image: latest, onDone }: { image: ImageDetail; onDone: () => void }) {
  // What others change meanwhile is not undone.
  const [image] = useState(latest);
  const { t } = useLingui();
  const update = useUpdateImage();
  const scopes = useScopes(image);
  const form = useProblemForm<ImageValues>(
    {
      initialValues: imageValues(image),
      validate: {
        aliases: (aliases) =>
          aliases.every((alias) => /^[a-z0-9]([a-z0-9_.-]{0,62}[a-z0-9])?$/.test(alias))
            ? null
            : t`1 to 64 lowercase letters and digits, with _ . - between them`,
      },
    },
    update.error,
  );
  const { values } = form;
  const changes = imageChanges(image, values);
  const nothing = Object.keys(changes).length === 0;
  const save = form.onSubmit(() => {
    if (nothing) return onDone();
    update.mutate({ id: image.id, ...changes }, { onSuccess: onDone });
  }, focusFirst(form));
  const nodes = useQuery({ ...nodesAllQuery({}), enabled: values.watch !== "off" }).data ?? [];
  const known = [...(image.settings?.pull_groups ?? []), ...(image.settings?.pull_nodes ?? []), ...nodes];
  const nameOf = (id: string) =>
    Object.values(scopes)
      .flat()
      .find(({ value }) => value === id)?.name ??
    known.find((one) => one.id === id)?.name ??
    id;
  return (
    <Form
      onSubmit={save}
      submit={nothing ? <Trans>Nothing changed</Trans> : <Trans>Save</Trans>}
      onCancel={onDone}
      busy={update.isPending}
      problem={update.error}
      command={nothing ? undefined : imageCommand(image, values, nameOf)}
    >
      <Select
        label={t`Sessions may use it`}
        allowDeselect={false}
        data={[
          { value: "registry", label: image.registry_id ? t`As its registry has it` : t`By default: yes` },
          { value: "yes", label: t`Yes` },
          { value: "no", label: t`No. Running sessions continue.` },
        ]}
        {...form.getInputProps("enabled")}
      />
      <Checkbox
        label={t`Hidden`}
        description={t`Users are not offered it; it starts by its name.`}
        {...form.getInputProps("hidden", { type: "checkbox" })}
      />
      <Checkbox
        label={t`Deprecated`}
        description={t`It still starts; whoever chooses it is warned.`}
        {...form.getInputProps("deprecated", { type: "checkbox" })}
      />
      {values.deprecated && (
        <ImageField
          label={t`Successor`}
          description={t`The image to use instead. Optional.`}
          {...form.getInputProps("successor")}
          value={values.successor}
        />
      )}
      <Checkbox
        label={t`Default version of ${image.family}`}
        description={t`The name of the family means this version. Without one, it is the newest.`}
        {...form.getInputProps("preferred", { type: "checkbox" })}
      />
      <TagsInput
        label={t`Aliases`}
        description={t`Further names of this image, such as stable.`}
        splitChars={[",", " "]}
        {...form.getInputProps("aliases")}
      />
      {(["domains", "projects", "groups"] as const).map((kind) => (
        <MultiSelect
          key={kind}
          label={
            {
              domains: t`Only for domains`,
              projects: t`Only for projects`,
              groups: t`Only in resource groups`,
            }[kind]
          }
          description={
            kind === "groups"
              ? t`Empty: in all.`
              : t`With domains and projects, either permits it. Both empty: for all.`
          }
          searchable
          data={scopes[kind].map(({ value, label }) => ({ value, label }))}
          {...form.getInputProps(kind)}
        />
      ))}
      <ImageSlotsInput
        label={t`Minimum`}
        description={t`Instead of what its labels say. Sessions with less are refused.`}
        slots={values.min_slots}
        usual={image.label_slots}
        error={form.errors.min_slots}
        onChange={(slots) => form.setFieldValue("min_slots", slots)}
      />
      <ImageSlotsInput
        label={t`Recommended`}
        description={t`The launcher begins with it.`}
        slots={values.recommended_slots}
        usual={image.min_slots}
        error={form.errors.recommended_slots}
        onChange={(slots) => form.setFieldValue("recommended_slots", slots)}
      />
      <WatchFields image={image} form={form} />
    </Form>
  );
}

interface Choice {
  value: string;
  label: string;
  name: string;
}

/** What an image can be limited to, with what it is limited to already and that may be gone. */
function useScopes(image: ImageDetail): Record<"domains" | "projects" | "groups", Choice[]> {
  const domains = useQuery(domainsChoiceQuery).data ?? [];
  const projects = useQuery(projectsChoiceQuery(undefined)).data ?? [];
  const groups = useQuery(groupsChoiceQuery).data ?? [];
  const plain = ({ id, name }: { id: string; name: string }): Choice => ({ value: id, label: name, name });
  const choices = {
    domains: domains.map(plain),
    projects: projects.map((one) => ({
      ...plain(one),
      label: `${one.name} (${one.domain.name})`,
      name: one.id,
    })),
    groups: groups.map(plain),
  };
  const kept = (kind: keyof typeof choices) => {
    const known = new Set(choices[kind].map(({ value }) => value));
    return [
      ...choices[kind],
      ...(image.settings?.[kind] ?? []).filter(({ id }) => !known.has(id)).map(plain),
    ];
  };
  return { domains: kept("domains"), projects: kept("projects"), groups: kept("groups") };
}
