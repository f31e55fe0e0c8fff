import { Trans, useLingui } from "@lingui/react/macro";
import { Skeleton, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { dotfilesShowQuery, useSetDotfile } from "@/queries/dotfiles";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { focusFirst, useProblemForm } from "@/ui/form/use-problem-form";
import { ProblemAlert } from "@/ui/ProblemAlert";

const PATH = /^\.[A-Za-z0-9_][A-Za-z0-9_.-]*(?:\/[A-Za-z0-9_.-]*[A-Za-z0-9_-])*$/;

interface Props {
  /** The dotfile to change; absent for a new one. */
  path?: string | undefined;
  onClose: () => void;
}

/** Creates a dotfile, or changes its content. */
export function DotfileForm({ path, onClose }: Props) {
  const file = useQuery({ ...dotfilesShowQuery(path ?? ""), enabled: path !== undefined });
  if (path === undefined) return <Fields path="" content="" onClose={onClose} />;
  if (file.error) return <ProblemAlert problem={file.error} onRetry={() => void file.refetch()} />;
  if (!file.data) return <Skeleton height={240} aria-busy />;
  return <Fields key={path} fixed path={path} content={file.data.content} onClose={onClose} />;
}

interface FieldsProps {
  path: string;
  content: string;
  fixed?: boolean;
  onClose: () => void;
}

function Fields({ path, content, fixed = false, onClose }: FieldsProps) {
  const { t } = useLingui();
  const set = useSetDotfile();
  const form = useProblemForm(
    {
      initialValues: { path, content },
      validate: {
        path: (value) =>
          PATH.test(value.trim()) ? null : t`A path begins with a dot, as .bashrc or .config/git/config.`,
      },
    },
    set.error,
  );
  const send = form.onSubmit(
    (values) => set.mutate({ ...values, path: values.path.trim() }, { onSuccess: onClose }),
    focusFirst(form),
  );
  const name = form.values.path.trim() || ".bashrc";
  return (
    <Form
      onSubmit={send}
      submit={<Trans>Save</Trans>}
      onCancel={onClose}
      busy={set.isPending}
      problem={set.error}
      command={commandLine("carrel", "dotfile", "set", name, "FILE")}
    >
      <TextInput
        label={t`Path`}
        description={t`Relative to the home of a session, such as .bashrc or .config/git/config.`}
        maxLength={200}
        spellCheck={false}
        disabled={fixed}
        data-autofocus={!fixed || undefined}
        {...form.getInputProps("path")}
      />
      <Textarea
        label={t`Content`}
        autosize
        minRows={8}
        maxRows={24}
        maxLength={65_536}
        spellCheck={false}
        data-autofocus={fixed || undefined}
        styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
        {...form.getInputProps("content")}
      />
    </Form>
  );
}
