import { useLingui } from "@lingui/react/macro";
import { useLocalStorage } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { signInOptionsQuery } from "@/queries/auth";
import { loadPart } from "@/routing/part";

// Loaded lazily: few installations have announcements, and Markdown is large.
const Announced = lazy(() => loadPart(() => import("./Announced")).then((m) => ({ default: m.Announced })));

/** The site announcement, until the user dismisses it in this browser; a new text is shown again. */
export function Announcement() {
  const { t } = useLingui();
  const text = useQuery(signInOptionsQuery).data?.announcement ?? "";
  const [dismissed, dismiss] = useLocalStorage({
    key: "carrel.dismissed",
    defaultValue: "",
    getInitialValueInEffect: false,
  });
  if (text.trim() === "" || dismissed === text) return null;
  return (
    <aside aria-label={t`Announcement`}>
      <Suspense fallback={null}>
        <Announced text={text} onDismiss={() => dismiss(text)} />
      </Suspense>
    </aside>
  );
}
