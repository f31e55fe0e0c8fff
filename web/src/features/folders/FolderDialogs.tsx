import { useNavigate } from "@tanstack/react-router";
import { Suspense } from "react";
import type { Folder } from "@/api/types";
import { part } from "@/routing/part";
import type { FoldersSearch } from "@/routing/search";
import { useLast } from "@/ui/use-last";
import type { FolderActs } from "./use-folder-acts";

const FolderForm = part(() => import("./FolderForm").then((m) => m.FolderFormDrawer));
const FolderDrawer = part(() => import("./FolderDrawer").then((m) => m.FolderDrawer));
const ActDialog = part(() => import("./ActDialog").then((m) => m.ActDialog));

interface Props {
  search: FoldersSearch;
  change: (part: Partial<FoldersSearch>, replace?: boolean) => void;
  acts: FolderActs;
  onBrowse: (folder: Folder) => void;
}

/** The form, drawer and dialogs over a list of folders. */
export function FolderDialogs({ search, change, acts, onBrowse }: Props) {
  const navigate = useNavigate();
  const shown = useLast(search.open);
  const folderId = useLast(search.on);
  const act = useLast(search.act);
  return (
    <Suspense fallback={null}>
      <FolderForm
        opened={search.make !== undefined}
        onClose={() => change({ make: undefined })}
        onMade={(folder) => void navigate({ to: "/data/$folder", params: { folder: folder.id } })}
      />
      {shown && (
        <FolderDrawer
          opened={search.open !== undefined}
          id={shown}
          tab={search.tab ?? "overview"}
          acts={acts}
          onTab={(tab) => change({ tab: tab === "overview" ? undefined : tab }, true)}
          onAct={(next, folder) => change({ act: next, on: folder.id })}
          onBrowse={onBrowse}
          onClose={() => change({ open: undefined, tab: undefined })}
        />
      )}
      {folderId && act && (
        <ActDialog
          opened={search.act !== undefined}
          act={act}
          id={folderId}
          onClose={() => change({ act: undefined, on: undefined })}
        />
      )}
    </Suspense>
  );
}
