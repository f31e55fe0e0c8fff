import { useLingui } from "@lingui/react/macro";
import { Select, Skeleton, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { Check, Folder, Image, Verdict } from "@/api/types";
import { environmentsChoiceQuery } from "@/queries/environments";
import { BatchFields, KindChoice } from "./BatchFields";
import { ClusterFields } from "./ClusterFields";
import { EnvironmentRows } from "./EnvironmentRows";
import { GroupChoice } from "./GroupChoice";
import { ImagePicker } from "./ImagePicker";
import { MoreFields } from "./MoreFields";
import { MountRows } from "./MountRows";
import { PresetChoice } from "./PresetChoice";
import type { LaunchForm } from "./request";
import { SlotFields } from "./SlotFields";
import type { LostGroups } from "./use-lost-choices";

interface Props {
  form: UseFormReturnType<LaunchForm>;
  images: Image[];
  /** The names of the user's projects. */
  projects: string[];
  folders: Folder[];
  check: Check | undefined;
  verdict: Verdict | undefined;
  /** The check has failed. */
  failed: boolean;
  lost: LostGroups;
  /** The error of a slot's amount. */
  errorOf: (slot: string) => string | undefined;
}

/** The fields of the launcher. */
export function LauncherFields({ form, images, projects, folders, check, verdict, ...props }: Props) {
  const { failed, lost, errorOf } = props;
  const { t } = useLingui();
  const environments = useQuery(environmentsChoiceQuery).data ?? [];
  const nameField = useRef<HTMLInputElement>(null);
  // On a touch screen, focus would open the keyboard over the form.
  const [typesAtOnce] = useState(() => matchMedia("(pointer: fine)").matches);
  useEffect(() => {
    if (typesAtOnce) nameField.current?.focus();
  }, [typesAtOnce]);
  const preferred = form.values.group || check?.group.name || "";
  const setSlots = (slots: Record<string, number>) => form.setFieldValue("slots", slots);
  return (
    <>
      <KindChoice values={form.values} onChange={form.setValues} />
      {projects.length > 1 && (
        <Select
          label={t`Project`}
          data={projects}
          allowDeselect={false}
          comboboxProps={{ shadow: "md" }}
          {...form.getInputProps("project")}
        />
      )}
      {check && (
        <GroupChoice
          groups={check.groups}
          value={preferred}
          verdict={verdict}
          lost={lost}
          onChange={(group) =>
            form.setValues({
              group,
              alternative_groups: form.values.alternative_groups.filter((name) => name !== group),
            })
          }
        />
      )}
      <ImagePicker
        images={images}
        environments={environments}
        {...form.getInputProps("image")}
        value={form.values.image}
        onChange={(image, chosen) => {
          form.setFieldValue("image", image);
          if (chosen) setSlots({ ...form.values.slots, ...chosen.recommended_slots });
        }}
      />
      <TextInput
        label={t`Name`}
        description={t`Optional. If empty, a name is generated.`}
        autoComplete="off"
        spellCheck={false}
        ref={nameField}
        // The drawer focuses its first field shortly after it opens; without this, it would focus its close
        // button.
        data-autofocus={typesAtOnce || undefined}
        {...form.getInputProps("name")}
      />
      {form.values.kind === "batch" && (
        <BatchFields values={form.values} errors={form.errors} onChange={form.setValues} />
      )}
      {!check && !failed && <Skeleton height={150} aria-busy />}
      {check && (
        <>
          <PresetChoice check={check} verdict={verdict} slots={form.values.slots} onChange={setSlots} />
          <SlotFields
            slots={form.values.slots}
            check={check}
            verdict={verdict}
            errorOf={errorOf}
            onChange={setSlots}
          />
        </>
      )}
      <ClusterFields
        values={form.values}
        levels={check?.groups.find(({ id }) => id === check.group.id)?.topology ?? []}
        errors={form.errors}
        slotNames={Object.keys(check?.slots ?? {})}
        onChange={form.setValues}
      />
      <MountRows
        rows={form.values.mounts}
        folders={folders}
        error={form.errors.mounts}
        onChange={(mounts) => form.setFieldValue("mounts", mounts)}
      />
      <EnvironmentRows
        legend={t`Environment variables`}
        rows={form.values.env}
        error={form.errors.env}
        onChange={(env) => form.setFieldValue("env", env)}
      />
      <MoreFields
        values={form.values}
        group={check?.group.id ?? "default"}
        preferred={preferred}
        groups={(check?.groups ?? []).map(({ name }) => name)}
        rootRefused={check?.root_refused}
        disk={check?.disk}
        errors={form.errors}
        onChange={form.setValues}
      />
    </>
  );
}
