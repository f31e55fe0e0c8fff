import { Trans, useLingui } from "@lingui/react/macro";
import { TextInput } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import type { Problem } from "@/api/problem";
import type { Image, Resources, SessionCreate } from "@/api/types";
import { Form } from "@/ui/form/Form";
import { focusFirst, useProblemForm } from "@/ui/form/use-problem-form";
import { formatCores, formatSize } from "@/ui/format";
import { cpuStops, memStops, verdict } from "./amounts";
import { createCommand } from "./command";
import { EnvironmentRows } from "./EnvironmentRows";
import { ImagePicker } from "./ImagePicker";
import { isName, type LaunchForm, toRequest, variableFault } from "./request";
import { SlotInput } from "./SlotInput";

interface Props {
  initial: LaunchForm;
  images: Image[];
  resources: Resources;
  /** Named only when the person is in several. */
  project: string | undefined;
  problem: Problem | null;
  busy: boolean;
  onSubmit: (request: SessionCreate) => void;
  onCancel: () => void;
}

export function LauncherForm({
  initial,
  images,
  resources,
  project,
  problem,
  busy,
  onSubmit,
  onCancel,
}: Props) {
  const { t } = useLingui();
  const minimum = (image: string) =>
    images.find((one) => one.name === image || one.reference === image)?.min_slots ?? {
      cpu: 100,
      mem: 2 ** 20,
    };
  const form = useProblemForm<LaunchForm>(
    {
      initialValues: initial,
      validateInputOnBlur: ["name"],
      validate: {
        image: (value) => (value.trim() === "" ? t`Choose an image, or write its reference.` : null),
        name: (value) =>
          value === "" || isName(value) ? null : t`4 to 64 letters, digits or _; between them also . and -`,
        cpu: (value, { image }) => {
          if (verdict(value, "cpu", resources) === "never") {
            return t`There are ${formatCores(resources.capacity.cpu)} cores in all.`;
          }
          const least = minimum(image).cpu;
          return value < least ? t`This image needs at least ${formatCores(least)} cores.` : null;
        },
        mem: (value, { image }) => {
          if (verdict(value, "mem", resources) === "never") {
            return t`There are ${formatSize(resources.capacity.mem)} in all.`;
          }
          const least = minimum(image).mem;
          return value < least ? t`This image needs at least ${formatSize(least)}.` : null;
        },
        env: (rows) => (rows.some((_, at) => variableFault(rows, at)) ? t`Correct the names above.` : null),
      },
    },
    problem,
  );
  const request = toRequest(form.values, project);
  const nameField = useRef<HTMLInputElement>(null);
  // On a touch screen this would throw up the keyboard over the form.
  const [typesAtOnce] = useState(() => matchMedia("(pointer: fine)").matches);
  useEffect(() => {
    if (typesAtOnce) nameField.current?.focus();
  }, [typesAtOnce]);

  const submit = form.onSubmit(() => onSubmit(request), focusFirst(form));
  const waits = (["cpu", "mem"] as const).some(
    (slot) => verdict(form.values[slot], slot, resources) === "waits",
  );

  return (
    <Form
      onSubmit={submit}
      submit={waits ? <Trans>Start when there is room</Trans> : <Trans>Start</Trans>}
      onCancel={onCancel}
      busy={busy}
      problem={problem}
      command={createCommand(request)}
    >
      <ImagePicker images={images} {...form.getInputProps("image")} />
      <TextInput
        label={t`Name`}
        description={t`Optional; one is made up when you leave it empty.`}
        autoComplete="off"
        spellCheck={false}
        ref={nameField}
        // The drawer looks for its first field a moment after it opened, and would take its close button.
        data-autofocus={typesAtOnce || undefined}
        {...form.getInputProps("name")}
      />
      <SlotInput
        slot="cpu"
        label={t`CPU cores`}
        stops={cpuStops(resources.capacity.cpu)}
        resources={resources}
        value={form.values.cpu}
        error={form.errors.cpu}
        onChange={(cpu) => form.setFieldValue("cpu", cpu)}
      />
      <SlotInput
        slot="mem"
        label={t`Memory`}
        stops={memStops(resources.capacity.mem)}
        resources={resources}
        value={form.values.mem}
        error={form.errors.mem}
        onChange={(mem) => form.setFieldValue("mem", mem)}
      />
      <EnvironmentRows
        rows={form.values.env}
        error={form.errors.env}
        onChange={(env) => form.setFieldValue("env", env)}
      />
    </Form>
  );
}
