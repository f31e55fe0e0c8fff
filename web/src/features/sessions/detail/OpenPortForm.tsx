import { Trans, useLingui } from "@lingui/react/macro";
import { NumberInput, Select, TextInput } from "@mantine/core";
import type { SessionDetail } from "@/api/types";
import { useAddApp } from "@/queries/apps";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { useProblemForm } from "@/ui/form/use-problem-form";

/** Makes a port on which a program of the session listens an app of the session. */
export function OpenPortForm({ session, onDone }: { session: SessionDetail; onDone: () => void }) {
  const { t } = useLingui();
  const add = useAddApp();
  const form = useProblemForm(
    {
      initialValues: { port: "" as number | string, name: "", protocol: "http", path: "/" },
      validate: {
        port: (port) => (Number(port) >= 1 && Number(port) <= 65_535 ? null : t`1 to 65535`),
        name: (name) =>
          name === "" || /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/.test(name)
            ? null
            : t`At most 40 lower-case letters, digits and -`,
        path: (path) => (path.startsWith("/") ? null : t`It begins with /`),
      },
    },
    add.error,
  );
  const { port, name, protocol, path } = form.values;
  const isHttp = protocol === "http";
  const options = [
    ...(name ? ["--name", name] : []),
    ...(isHttp ? [] : ["--protocol", "tcp"]),
    ...(isHttp && path !== "/" ? ["--path", path] : []),
  ];
  return (
    <Form
      onSubmit={form.onSubmit(() =>
        add.mutate(
          {
            id: session.id,
            port: Number(port),
            protocol: isHttp ? "http" : "tcp",
            ...(name ? { name } : {}),
            ...(isHttp ? { path } : {}),
          },
          { onSuccess: onDone },
        ),
      )}
      submit={<Trans>Open port</Trans>}
      onCancel={onDone}
      busy={add.isPending}
      problem={add.error}
      command={commandLine("carrel", "app", "open", session.id, "--port", String(port || "PORT"), ...options)}
    >
      <NumberInput
        label={t`Port`}
        description={t`Where a program in the session listens, on all addresses (0.0.0.0)`}
        min={1}
        max={65_535}
        clampBehavior="none"
        allowDecimal={false}
        withAsterisk
        data-autofocus
        {...form.getInputProps("port")}
      />
      <TextInput label={t`Name`} placeholder={`port-${port || "8000"}`} {...form.getInputProps("name")} />
      <Select
        label={t`Protocol`}
        allowDeselect={false}
        data={[
          { value: "http", label: t`HTTP, opened in a browser` },
          { value: "tcp", label: t`TCP, forwarded to a local port` },
        ]}
        {...form.getInputProps("protocol")}
      />
      {isHttp && (
        <TextInput
          label={t`Path`}
          description={t`Where its pages begin`}
          spellCheck={false}
          {...form.getInputProps("path")}
        />
      )}
    </Form>
  );
}
