import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Button, List, Select, TextInput, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { StorageCheck, StorageHost } from "@/api/types";
import { useRefusal } from "@/me/may";
import { enginesListQuery } from "@/queries/engines";
import { useCheckHost, useSetHostLocation } from "@/queries/hosts";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { useProblemForm } from "@/ui/form/use-problem-form";

type Values = { engine: string; way: string; location: string };

/** Where the containers of each engine have the folders of a storage host. */
export function HostLocations({ host }: { host: StorageHost }) {
  const { t } = useLingui();
  const set = useSetHostLocation();
  const check = useCheckHost();
  const refusal = useRefusal()("storage_host.update");
  const engines = useQuery(enginesListQuery).data ?? [];
  const valuesOf = (engine: string): Values => {
    const location = host.locations?.find((one) => one.engine.id === engine)?.location ?? "";
    const nowhere = host.locations?.some((one) => one.engine.id === engine && one.location === null);
    return { engine, way: nowhere ? "nowhere" : location ? "location" : "same-path", location };
  };
  const form = useProblemForm<Values>(
    {
      initialValues: valuesOf("local"),
      validate: {
        location: (location, { way }) =>
          way !== "location" || location.trim() ? null : t`A path or the address of a volume`,
      },
    },
    set.error,
  );
  const { engine, way, location } = form.values;
  const name = engines.find(({ id }) => id === engine)?.name ?? engine;
  const sent = way === "nowhere" ? null : way === "location" ? location.trim() : "";
  const choose = (chosen: string) => {
    set.reset();
    check.reset();
    form.setInitialValues(valuesOf(chosen));
    form.setValues(valuesOf(chosen));
  };
  return (
    <Form
      onSubmit={form.onSubmit((values) =>
        set.mutate(
          { id: host.id, engine, location: sent },
          {
            onSuccess: () => {
              check.reset();
              form.resetDirty(values);
            },
          },
        ),
      )}
      submit={<Trans>Save</Trans>}
      blocked={refusal !== null || !form.isDirty()}
      busy={set.isPending}
      problem={set.error ?? check.error}
      extra={
        <Button
          variant="default"
          loading={check.isPending}
          disabled={refusal !== null || form.isDirty()}
          onClick={() => check.mutate({ id: host.id, engine })}
        >
          <Trans>Check</Trans>
        </Button>
      }
      notice={check.data && <CheckResult check={check.data} />}
      command={commandLine(
        "carrel",
        "storage-host",
        "location",
        host.name,
        name,
        ...(way === "location" ? ["--at", location || "volume://folders"] : [`--${way}`]),
      )}
    >
      <Title order={3} size="h6">
        <Trans>Location on engines</Trans>
      </Title>
      <Select
        label={t`Engine`}
        allowDeselect={false}
        data={engines.map((one) => ({ value: one.id, label: one.name }))}
        value={engine}
        onChange={(chosen) => chosen && choose(chosen)}
      />
      <Select
        label={t`Folders on its nodes`}
        allowDeselect={false}
        data={[
          { value: "same-path", label: t`At the same path as on the server` },
          { value: "location", label: t`At another location` },
          { value: "nowhere", label: t`Not available: sessions with folders do not run there` },
        ]}
        {...form.getInputProps("way")}
      />
      {way === "location" && (
        <TextInput
          label={t`Location`}
          description={t`A path on its nodes, volume://NAME/PREFIX for a PersistentVolumeClaim, nfs://SERVER/EXPORT or csi://DRIVER/PREFIX?ATTRIBUTE=VALUE.`}
          maxLength={1000}
          spellCheck={false}
          autoComplete="off"
          placeholder="volume://folders"
          {...form.getInputProps("location")}
        />
      )}
    </Form>
  );
}

function CheckResult({ check }: { check: StorageCheck }) {
  const { t } = useLingui();
  return (
    <Alert
      color={check.ok ? "green" : "red"}
      variant="light"
      title={check.ok ? t`The nodes and the server have the same files.` : t`The check failed.`}
    >
      <List size="sm">
        {check.steps.map(({ place, problem }) => (
          <List.Item key={place}>
            {place}: {problem || t`OK`}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}
