import { useSyncExternalStore } from "react";
import type { SessionState } from "@/api/types";

/** A session event while this page was open: a state, or that somebody shared it with the user. */
export interface Notice {
  key: number;
  at: Date;
  sessionId: string;
  name: string;
  state?: SessionState;
  reason?: string | null;
  /** The e-mail of who shared it. */
  sharedBy?: string | null;
}

const KEPT = 50;

/** The latest notifications, newest first, and the number of unread ones. */
export class NoticeBoard {
  private notices: readonly Notice[] = [];
  private unread = 0;
  private next = 1;
  private readonly listeners = new Set<() => void>();
  private snapshot = { notices: this.notices, unread: this.unread };

  add(notice: Omit<Notice, "key">): void {
    this.notices = [{ ...notice, key: this.next++ }, ...this.notices].slice(0, KEPT);
    this.unread = Math.min(KEPT, this.unread + 1);
    this.tell();
  }

  markRead(): void {
    if (this.unread === 0) return;
    this.unread = 0;
    this.tell();
  }

  clear(): void {
    this.notices = [];
    this.unread = 0;
    this.tell();
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  read = () => this.snapshot;

  private tell(): void {
    this.snapshot = { notices: this.notices, unread: this.unread };
    for (const listener of this.listeners) listener();
  }
}

export const noticeBoard = new NoticeBoard();

export function useNotices() {
  return useSyncExternalStore(noticeBoard.subscribe, noticeBoard.read);
}
