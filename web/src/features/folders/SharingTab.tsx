import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Skeleton, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Folder, MountedIn } from "@/api/types";
import { folderSharesQuery } from "@/queries/folders";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { ShareForm } from "./ShareForm";
import { ShareRows } from "./ShareRows";
import { StillMounted } from "./StillMounted";
import type { FolderActs } from "./use-folder-acts";

/** Sharing of a folder: invite, change, revoke. */
export function SharingTab({ folder, acts }: { folder: Folder; acts: FolderActs }) {
  const { t } = useLingui();
  const refusal = acts.whyNotShare(folder);
  const seen = folder.mine || folder.my_permission === null;
  const shares = useQuery({ ...folderSharesQuery(folder.id), enabled: seen });
  const [still, setStill] = useState<MountedIn[]>([]);
  if (!seen) {
    return (
      <Text size="sm">
        <Trans>Only the owner manages sharing. To leave this folder, use the Overview tab.</Trans>
      </Text>
    );
  }
  return (
    <Stack gap="lg">
      {refusal ? (
        <Alert color="gray" variant="light">
          {refusal}
        </Alert>
      ) : (
        <ShareForm folder={folder} />
      )}
      <StillMounted mounts={still} onClose={() => setStill([])} />
      {shares.isPending && <Skeleton height={120} aria-busy />}
      {shares.isError && <ProblemAlert problem={shares.error} onRetry={() => void shares.refetch()} />}
      {shares.data && (
        <ShareRows
          folder={folder}
          shares={shares.data}
          refusal={folder.mine ? null : t`Only the owner can share this folder.`}
          onChanged={setStill}
        />
      )}
    </Stack>
  );
}
