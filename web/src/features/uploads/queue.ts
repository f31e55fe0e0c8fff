import { Problem, toProblem } from "@/api/problem";
import { loadAgain } from "@/routing/load-again";
import { holdPrefetching } from "@/routing/prefetch";
import { isThere, packing, sendPack } from "./packs";
import {
  begunUploads,
  forgetUpload,
  isSameFile,
  lostUploads,
  releaseLock,
  rememberUpload,
} from "./remembered";
import {
  begunOf,
  type Choice,
  canGoOn,
  canPack,
  isOpen,
  lostTask,
  NOT_BEGUN,
  OPEN,
  restOf,
  TAKEN,
  type Task,
  TOO_MANY,
  type UploadItem,
  type UploadSource,
  type UploadState,
} from "./tasks";

/** The tus client is downloaded with the first upload. */
const protocol = () => loadAgain(() => import("./transfer"));

const AT_ONCE = 3;
/** Files added per step: enough to fill a request for each of the parallel transfers. */
const ADDED_AT_ONCE = 600;
const TELL_MS = 200;
const TELL_MS_EACH = 0.05;
/** Pause before a retry after a server restart or a lost connection. */
const LINE_REST_S = 3;
const GONE: readonly number[] = [404, 410];

/**
 * All uploads of this browser tab, across pages.
 *
 * Sends a few files at once, in the order in which they were added. The user is asked about conflicts while
 * other uploads continue.
 */
export class UploadQueue {
  private tasks: Task[] = [];
  private user = "";
  private next = 1;
  private snapshot: readonly UploadItem[] = [];
  private readonly listeners = new Set<() => void>();
  /** The conflict choice of a batch. */
  private readonly choices = new Map<number, Choice>();
  /** Batches that are still being added, and the initial state of their next files. */
  private readonly adding = new Map<number, "waiting" | "paused">();
  private telling: ReturnType<typeof setTimeout> | null = null;
  private resting: ReturnType<typeof setTimeout> | null = null;
  /** Called for each folder whose files changed. */
  onArrived: (folder: string) => void = () => undefined;

  /** Restores this user's unfinished uploads from before the page load; drops those of other users. */
  begin(user: string): void {
    if (this.user === user) return;
    for (const task of this.tasks) {
      this.stop(task);
      if (task.url) releaseLock(task.url);
    }
    this.user = user;
    this.tasks = [];
    this.adding.clear();
    this.pump();
    void this.findLost(user);
  }

  private async findLost(user: string): Promise<void> {
    const lost = Object.entries(await lostUploads(user));
    if (this.user !== user) return;
    const batch = this.next++;
    for (const [url, begun] of lost) {
      if (this.tasks.every((task) => task.url !== url))
        this.tasks.push(lostTask(this.next++, batch, url, begun));
    }
    this.tell();
  }

  /** Uploads files to a folder; large sets start before all of their files are processed. */
  add(folder: UploadItem["folder"], files: readonly UploadSource[]): void {
    const batch = this.next++;
    this.adding.set(batch, "waiting");
    this.addSome(batch, folder, files, 0);
  }

  /** Adds the files from `start` on. The browser reads the size of each from disk, which blocks the page. */
  private addSome(
    batch: number,
    folder: UploadItem["folder"],
    files: readonly UploadSource[],
    start: number,
  ): void {
    const state = this.adding.get(batch);
    if (!state) return;
    const end = start + ADDED_AT_ONCE;
    const lost = this.tasks.filter((task) => task.state === "lost" && task.folder.id === folder.id);
    for (const { path, file } of files.slice(start, end)) {
      // Chromium reads the size from disk on every access, unless the time was read before.
      void file.lastModified;
      const begun = lost.find((task) => task.path === path);
      if (begun && this.resumeLost(begun.key, file)) continue;
      this.tasks.push({
        key: this.next++,
        batch,
        folder,
        path,
        file,
        size: file.size,
        sent: 0,
        state,
        problem: null,
        clash: "refuse",
        url: null,
        ...NOT_BEGUN,
      });
    }
    if (end < files.length) setTimeout(() => this.addSome(batch, folder, files, end));
    else this.adding.delete(batch);
    this.pump();
  }

  /** Resumes an upload from before the page load; false if it is another file. */
  resumeLost(key: number, file: File): boolean {
    const task = this.tasks.find((one) => one.key === key);
    const begun = task?.url ? begunUploads(this.user)[task.url] : undefined;
    if (!task || !begun || !isSameFile(begun, file)) return false;
    Object.assign(task, { file, state: "waiting" });
    this.pump();
    return true;
  }

  pause(batch: number): void {
    if (this.adding.has(batch)) this.adding.set(batch, "paused");
    for (const task of this.of(batch, ["waiting", "sending"])) {
      if (task.state === "sending") this.stop(task);
      task.state = "paused";
    }
    this.pump();
  }

  resume(batch: number): void {
    if (this.adding.has(batch)) this.adding.set(batch, "waiting");
    for (const task of this.of(batch, ["paused"])) task.state = "waiting";
    this.pump();
  }

  /** Retries the failed uploads. */
  retry(batch: number): void {
    for (const task of this.of(batch, ["failed"])) Object.assign(task, { state: "waiting", problem: null });
    this.pump();
  }

  /** Cancels the unfinished uploads; completed ones stay. */
  cancel(batch: number): void {
    this.adding.delete(batch);
    for (const task of this.of(batch, [...OPEN, "lost", "failed"])) this.drop(task, "skipped");
    this.tasks = this.tasks.filter((task) => task.batch !== batch);
    this.pump();
  }

  /** Removes finished uploads from the list. */
  clear(): void {
    for (const task of this.tasks) if (task.state === "failed") this.drop(task, "skipped");
    this.tasks = this.tasks.filter((task) => isOpen(task) || task.state === "lost");
    this.tell();
  }

  /** Resolves a name conflict; with `forAll`, all such conflicts of its batch. */
  answer(key: number, choice: Choice, forAll: boolean): void {
    const match = this.tasks.find((task) => task.key === key);
    if (!match) return;
    if (forAll) this.choices.set(match.batch, choice);
    for (const task of forAll ? this.of(match.batch, ["asking"]) : [match]) this.decide(task, choice);
    this.pump();
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  read = (): readonly UploadItem[] => this.snapshot;

  private of(batch: number, states: readonly UploadState[]): Task[] {
    return this.tasks.filter((task) => task.batch === batch && states.includes(task.state));
  }

  private decide(task: Task, choice: Choice): void {
    if (choice === "skip") this.drop(task, "skipped");
    else Object.assign(task, { clash: choice, state: "waiting", problem: null });
  }

  private drop(task: Task, state: UploadState): void {
    this.stop(task);
    if (task.url) void this.terminate(task.url, task.state === "lost");
    Object.assign(task, { state, transfer: null, url: null });
  }

  /** Stops sending; a separate transfer can be resumed. */
  private stop(task: Task): void {
    void task.transfer?.abort();
    if (!task.pack) return;
    task.pack.abort();
    Object.assign(task, { pack: null, responseLost: true });
  }

  private async terminate(url: string, lost: boolean): Promise<void> {
    const { user } = this;
    // Another tab may have resumed it meanwhile.
    if (lost && !(url in (await lostUploads(user)))) return;
    forgetUpload(user, url);
    const { terminate } = await protocol();
    await terminate(url);
  }

  private pump(): void {
    const requests = new Set(
      this.tasks.filter(({ state }) => state === "sending").map(({ pack, key }) => pack ?? key),
    );
    let sending = requests.size;
    for (const [index, task] of this.tasks.entries()) {
      if (this.resting || sending >= AT_ONCE) break;
      if (task.state !== "waiting" || !task.file) continue;
      sending += 1;
      const together = this.packFrom(task, index);
      if (together.length > 1) void this.sendTogether(together);
      else {
        Object.assign(task, { state: "sending", problem: null });
        void this.send(task, task.file);
      }
    }
    holdPrefetching(sending > 0);
    this.tell();
  }

  /** The uploads that fit into one request with this one, from its index on; itself first. */
  private packFrom(first: Task, index: number): (Task & { file: File })[] {
    const ready: (Task & { file: File })[] = [];
    if (!canPack(first)) return ready;
    const fits = packing();
    for (let at = index; at < this.tasks.length; at += 1) {
      const task = this.tasks[at];
      if (!task || task.batch !== first.batch || !canPack(task)) continue;
      this.applyChoice(task);
      if (task.clash !== first.clash) continue;
      if (!fits(task)) break;
      ready.push(task);
    }
    return ready;
  }

  /** Applies the conflict choice of its batch. */
  private applyChoice(task: Task): void {
    const choice = this.choices.get(task.batch);
    if (task.clash === "refuse" && choice && choice !== "skip") task.clash = choice;
  }

  private async sendTogether(tasks: (Task & { file: File })[]): Promise<void> {
    const [{ folder, clash }] = tasks as [Task];
    const pack = new AbortController();
    for (const task of tasks) Object.assign(task, { state: "sending", problem: null, pack });
    let outcome: Map<string, Problem | null> | Problem;
    try {
      outcome = await sendPack(folder.id, clash, tasks, pack.signal);
    } catch (thrown) {
      outcome = toProblem(thrown);
    }
    // Skip those that were paused or cancelled meanwhile.
    const those = tasks.filter((task) => task.pack === pack);
    for (const task of those) task.pack = null;
    if (outcome instanceof Problem) {
      if (those.length > 0) this.putBack(those, outcome);
    } else await this.settleTogether(those, outcome);
    this.pump();
  }

  /**
   * Requeues files after their pack failed. After a lost connection or a server restart they are sent as a
   * pack once more, instead of thousands one by one.
   */
  private putBack(tasks: Task[], problem: Problem): void {
    const responseLost = problem.status === 0 || problem.status >= 500;
    if (problem.status === TOO_MANY) this.rest(restOf(problem));
    else if (responseLost) this.rest(LINE_REST_S);
    for (const task of tasks) {
      if (problem.status === TOO_MANY) Object.assign(task, { state: "waiting", problem });
      else {
        const alone = task.responseLost || !responseLost;
        Object.assign(task, { state: "waiting", alone, responseLost: task.responseLost || responseLost });
      }
    }
  }

  private async settleTogether(
    tasks: (Task & { file: File })[],
    outcome: Map<string, Problem | null>,
  ): Promise<void> {
    let arrived = false;
    for (const task of tasks) {
      const problem = outcome.get(task.path);
      if (problem === undefined) Object.assign(task, { state: "waiting", alone: true, responseLost: true });
      else if (problem === null || (await this.hasArrived(task, problem))) {
        Object.assign(task, { state: "done", sent: task.size });
        arrived = true;
      } else if (problem.code === TAKEN) this.ask(task, problem);
      else Object.assign(task, { state: "failed", problem });
    }
    const [first] = tasks;
    if (first && arrived) this.onArrived(first.folder.id);
  }

  /** Whether the existing file is this very one, stored by an earlier request. */
  private async hasArrived(task: Task & { file: File }, problem: Problem): Promise<boolean> {
    return problem.code === TAKEN && task.responseLost && isThere(task.folder.id, task);
  }

  /** Asks how to resolve a name conflict, unless the batch has a choice. */
  private ask(task: Task, problem: Problem): void {
    Object.assign(task, { state: "asking", problem });
    const answered = this.choices.get(task.batch);
    // A choice that failed is asked again: a file cannot replace a directory.
    if (answered && answered !== task.clash) this.decide(task, answered);
  }

  /** Starts no transfers for this long. */
  private rest(seconds: number): void {
    this.resting ??= setTimeout(() => {
      this.resting = null;
      this.pump();
    }, 1000 * seconds);
  }

  private async send(task: Task, file: File): Promise<void> {
    task.turn += 1;
    const { turn } = task;
    const settle = (state: UploadState, problem: Problem | null = null) => {
      if (task.state !== "sending") return;
      Object.assign(task, { state, problem, transfer: null });
      if (task.url && !(problem && canGoOn(problem))) {
        forgetUpload(this.user, task.url);
        task.url = null;
      }
      if (state === "done") this.onArrived(task.folder.id);
      this.pump();
    };
    const library = await protocol().catch((thrown: unknown) => settle("failed", toProblem(thrown)));
    // It may have been paused or cancelled meanwhile.
    if (!library || task.state !== "sending" || task.turn !== turn) return;
    const { SMALL, transferOf } = library;
    const resumed = task.url !== null;
    this.applyChoice(task);
    // A pause keeps the transfer for resuming.
    task.transfer ??= transferOf(file, {
      folder: task.folder.id,
      path: task.path,
      clash: task.clash,
      url: task.url,
      onUrl: (url) => {
        task.url = url;
        if (file.size > SMALL) rememberUpload(this.user, url, begunOf(task, file));
      },
      onProgress: (sent) => {
        task.sent = sent;
        this.tell();
      },
      onDone: () => {
        task.sent = task.size;
        settle("done");
      },
      onProblem: (problem) => {
        if (problem.code === TAKEN) {
          void this.hasArrived({ ...task, file }, problem).then((arrived) => {
            if (arrived) return settle("done");
            settle("asking", problem);
            if (task.state === "asking") this.ask(task, problem);
            this.pump();
          });
          return;
        }
        if (problem.status === TOO_MANY) {
          this.rest(restOf(problem));
          return settle("waiting", problem);
        }
        // The server keeps partial uploads for only a day.
        if (resumed && GONE.includes(problem.status)) return settle("waiting");
        settle("failed", problem);
      },
    });
    task.transfer.start();
  }

  /** Notifies subscribers, a few times a second at most, and less often with thousands of files. */
  private tell(): void {
    this.telling ??= setTimeout(
      () => {
        this.telling = null;
        this.snapshot = this.tasks.map((task) => ({ ...task }));
        for (const listener of this.listeners) listener();
      },
      Math.max(TELL_MS, this.tasks.length * TELL_MS_EACH),
    );
  }
}

export const uploads = new UploadQueue();
