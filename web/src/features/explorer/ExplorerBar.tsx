import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Button, FileButton, Group, Menu, Text } from "@mantine/core";
import {
  IconDownload,
  IconFolderPlus,
  IconFolderUp,
  IconPlayerPlay,
  IconShare,
  IconUpload,
} from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { type Ref, useRef, useState } from "react";
import { useFolderActs } from "@/features/folders/use-folder-acts";
import { readChosen } from "@/features/uploads/dropped";
import { useRefusal } from "@/me/may";
import { MainButton } from "@/ui/MainButton";
import { KeyHelpButton } from "@/ui/table/KeyHelp";
import { SearchBox } from "@/ui/table/SearchBox";
import { DirectoryDialog } from "./DirectoryDialog";
import type { FileActs } from "./use-file-acts";
import type { FileSelection } from "./use-file-selection";

interface Props {
  ref: Ref<HTMLInputElement>;
  path: string;
  q: string | undefined;
  acts: FileActs;
  selection: FileSelection;
  /** Number of entries in the directory. */
  total: number;
  phone: boolean;
  onSearch: (q: string | undefined) => void;
  onShare: () => void;
}

/** Search, upload and new directory; with a selection, the actions on it. */
export function ExplorerBar(props: Props) {
  const { ref, path, q, acts, selection, total, phone, onSearch, onShare } = props;
  const { t } = useLingui();
  const navigate = useNavigate();
  const refusal = useRefusal();
  const folderActs = useFolderActs();
  const [making, setMaking] = useState(false);
  const chosen = selection.entries;
  if (selection.gathering) {
    return (
      <Text size="sm" role="status">
        <Plural value={total} one="Selecting # entry…" other="Selecting all # entries…" />
      </Text>
    );
  }
  if (chosen.length > 0) {
    const all = q === undefined && chosen.length === total;
    return <Chosen acts={acts} selection={selection} directory={all ? path : undefined} />;
  }
  return (
    <Group gap="xs">
      <SearchBox
        ref={ref}
        label={t`Search this directory`}
        placeholder={t`Name`}
        value={q}
        onChange={onSearch}
      />
      {!phone && <KeyHelpButton />}
      <MainButton
        variant="default"
        icon={IconPlayerPlay}
        label={t`Start a session here`}
        refusal={refusal("session.create")}
        onClick={() => void navigate({ to: "/sessions", search: { launch: "new", mount: acts.folder.id } })}
      />
      <MainButton
        variant="default"
        icon={IconShare}
        label={t`Share`}
        refusal={folderActs.whyNotShare(acts.folder)}
        onClick={onShare}
      />
      <MainButton
        variant="default"
        icon={IconFolderPlus}
        label={t`New directory`}
        refusal={acts.whyNotWrite}
        onClick={() => setMaking(true)}
      />
      <UploadMenu path={path} acts={acts} />
      <DirectoryDialog opened={making} path={path} acts={acts} onClose={() => setMaking(false)} />
    </Group>
  );
}

function UploadMenu({ path, acts }: { path: string; acts: FileActs }) {
  const { t } = useLingui();
  const reset = useRef<() => void>(null);
  const resetTree = useRef<() => void>(null);
  const take = (files: File[], forget: { current: (() => void) | null }) => {
    if (files.length > 0) void acts.upload(readChosen(files), path);
    // Reset the input, so that the same file can be selected again.
    forget.current?.();
  };
  if (acts.whyNotWrite) {
    return (
      <MainButton icon={IconUpload} label={t`Upload`} refusal={acts.whyNotWrite} onClick={() => undefined} />
    );
  }
  return (
    <Menu position="bottom-end" keepMounted>
      <Menu.Target>
        <Button size="xs" leftSection={<IconUpload size={15} aria-hidden />}>
          <Trans>Upload</Trans>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <FileButton resetRef={reset} multiple onChange={(files) => take(files, reset)}>
          {(props) => (
            <Menu.Item {...props} leftSection={<IconUpload size={16} aria-hidden />}>
              <Trans>Files…</Trans>
            </Menu.Item>
          )}
        </FileButton>
        <FileButton
          resetRef={resetTree}
          multiple
          onChange={(files) => take(files, resetTree)}
          inputProps={{ webkitdirectory: "" } as Record<string, string>}
        >
          {(props) => (
            <Menu.Item {...props} leftSection={<IconFolderUp size={16} aria-hidden />}>
              <Trans>Directory…</Trans>
            </Menu.Item>
          )}
        </FileButton>
      </Menu.Dropdown>
    </Menu>
  );
}

/** With more files, the download of a fully selected directory names only the directory. */
const NAMED = 100;

interface ChosenProps {
  acts: FileActs;
  selection: FileSelection;
  /** The directory whose entries are all selected, if so. */
  directory: string | undefined;
}

function Chosen({ acts, selection, directory }: ChosenProps) {
  const { t } = useLingui();
  const chosen = selection.entries;
  const named = chosen.filter(({ readable }) => readable);
  const unreadable =
    named.length < chosen.length ? t`A selected name is not valid UTF-8. Rename it in a session.` : null;
  return (
    <Group gap="xs">
      <Text size="sm" role="status">
        {directory !== undefined && chosen.length > 1 ? (
          <Plural value={chosen.length} one="# entry selected" other="all # entries selected" />
        ) : (
          <Plural value={chosen.length} one="# selected" other="# selected" />
        )}
      </Text>
      <MainButton
        variant="default"
        icon={IconDownload}
        label={chosen.length === 1 && chosen[0]?.kind === "file" ? t`Download` : t`Download as zip`}
        refusal={unreadable}
        onClick={() =>
          void acts.download(
            directory !== undefined && named.length > NAMED ? [directory] : named.map(({ path }) => path),
          )
        }
      />
      <MainButton
        variant="default"
        label={t`Move to…`}
        refusal={unreadable ?? acts.whyNotWrite}
        onClick={() => acts.askWhere("move", named)}
      />
      <MainButton
        variant="default"
        label={t`Copy to…`}
        refusal={unreadable}
        onClick={() => acts.askWhere("copy", named)}
      />
      <MainButton
        variant="light"
        color="red"
        label={t`Delete…`}
        refusal={unreadable ?? acts.whyNotRemove}
        onClick={() => acts.remove(named, selection.clear)}
      />
      <Button size="xs" variant="subtle" color="gray" onClick={selection.clear}>
        <Trans>Unselect</Trans>
      </Button>
    </Group>
  );
}
