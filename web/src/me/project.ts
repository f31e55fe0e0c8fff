import { useSyncExternalStore } from "react";
import type { Me, Project } from "@/api/types";

const STORED = "carrel.project";
const listeners = new Set<() => void>();

function stored(): string | null {
  try {
    return localStorage.getItem(STORED);
  } catch {
    return null;
  }
}

let chosen = stored();

/** Sets the default project of new sessions in this browser. */
export function chooseProject(id: string): void {
  chosen = id;
  try {
    localStorage.setItem(STORED, id);
  } catch {
    // Without storage, the choice lasts until the page is closed.
  }
  for (const listener of listeners) listener();
}

/** The default project of new sessions: the chosen one while the user is a member, else their first. */
export function useProject(me: Me): Project | undefined {
  const id = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => chosen,
  );
  return me.projects.find((project) => project.id === id) ?? me.projects[0];
}
