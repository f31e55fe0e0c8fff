import { useLingui } from "@lingui/react/macro";
import { Fieldset, Select, Stack, Switch } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { enginesListQuery } from "@/queries/engines";
import { DurationInput } from "@/ui/form/DurationInput";
import { SlotAmountInput } from "@/ui/form/SlotAmountInput";
import type { GroupValues } from "./group-values";

const LIMIT_AT_FIRST = { cpu: 64_000, mem: 256 * 2 ** 30 };

/** The nodes of a group are left to a Kubernetes cluster: engine, limit, and how long a start waits for a machine. */
export function ElasticFields({ form }: { form: UseFormReturnType<GroupValues> }) {
  const { t } = useLingui();
  const { elastic } = form.values;
  const engines = useQuery(enginesListQuery).data?.filter((engine) => engine.kind === "kubernetes") ?? [];
  const set = (part: Partial<NonNullable<GroupValues["elastic"]>>) =>
    elastic && form.setFieldValue("elastic", { ...elastic, ...part });
  const amountOf = (slot: string) => (elastic?.limit[slot] as number | undefined) ?? null;
  if (engines.length === 0 && !elastic) return null;
  return (
    <>
      <Switch
        label={t`Elastic`}
        description={t`The Kubernetes cluster chooses the nodes, and its autoscaler may add some. The group has a limit instead of nodes.`}
        checked={elastic !== null}
        onChange={(event) =>
          form.setFieldValue(
            "elastic",
            event.currentTarget.checked
              ? { engine: engines[0]?.id ?? "", limit: LIMIT_AT_FIRST, wait_s: 900 }
              : null,
          )
        }
      />
      {elastic && (
        <Fieldset legend={t`Elastic`}>
          <Stack gap="sm">
            <Select
              label={t`Engine`}
              allowDeselect={false}
              data={engines.map((engine) => ({ value: engine.id, label: engine.name }))}
              value={elastic.engine}
              error={form.errors["elastic.engine"]}
              onChange={(engine) => engine && set({ engine })}
            />
            <SlotAmountInput
              slot="cpu"
              label={t`CPU limit`}
              description={t`What all sessions of the group may hold together.`}
              amount={amountOf("cpu")}
              error={form.errors["elastic.limit"]}
              onChange={(cpu) => set({ limit: { ...elastic.limit, cpu } })}
            />
            <SlotAmountInput
              slot="mem"
              label={t`Memory limit`}
              amount={amountOf("mem")}
              onChange={(mem) => set({ limit: { ...elastic.limit, mem } })}
            />
            <DurationInput
              label={t`Maximum wait for a machine`}
              description={t`After this time the session returns to the queue. After several attempts it fails.`}
              value={elastic.wait_s ?? null}
              error={form.errors["elastic.wait_s"]}
              onChange={(wait_s) => set({ wait_s })}
            />
          </Stack>
        </Fieldset>
      )}
    </>
  );
}
