/** What React rendered, as its development tools see it: the hook must be there before React is loaded. */

interface Fiber {
  flags: number;
  type: unknown;
  memoizedProps: { row?: { id: string } } | null;
  child: Fiber | null;
  sibling: Fiber | null;
  alternate: Fiber | null;
}

export interface Rendered {
  /** Names of components. */
  components: Set<string>;
  /** How often each row of a list rendered, by its id; also if only a part of it did. */
  rows: Map<string, number>;
}

const nothing = (): Rendered => ({ components: new Set(), rows: new Map() });

/** React sets it on a component that ran, and not on one that was skipped. */
const PERFORMED_WORK = 1;

export class Renders {
  private now = nothing();

  /** What has rendered since the last call. */
  take(): Rendered {
    const taken = this.now;
    this.now = nothing();
    return taken;
  }

  readonly hook = {
    supportsFiber: true,
    inject: () => 1,
    onCommitFiberUnmount() {},
    onPostCommitFiberRoot() {},
    onCommitFiberRoot: (_renderer: number, root: { current: Fiber }) => {
      const rows = new Set<string>();
      this.walk(root.current, null, rows);
      for (const row of rows) this.now.rows.set(row, (this.now.rows.get(row) ?? 0) + 1);
    },
  };

  private walk(parent: Fiber, row: string | null, rows: Set<string>): void {
    // The children are those of the commit before: nothing below has rendered.
    if (parent.alternate?.child === parent.child) return;
    for (let fiber = parent.child; fiber; fiber = fiber.sibling) {
      const inside = fiber.memoizedProps?.row?.id ?? row;
      if (fiber.flags & PERFORMED_WORK && typeof fiber.type === "function") {
        this.now.components.add(fiber.type.name);
        if (inside !== null) rows.add(inside);
      }
      this.walk(fiber, inside, rows);
    }
  }
}
