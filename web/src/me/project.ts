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

/** New sessions belong to this project from now on, on this browser. */
export function chooseProject(id: string): void {
  chosen = id;
  try {
    localStorage.setItem(STORED, id);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
  for (const listener of listeners) listener();
}

/** The project that new sessions belong to: the chosen one while the person is in it, else their first. */
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
