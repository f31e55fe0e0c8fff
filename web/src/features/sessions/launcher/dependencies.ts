import type { Dependency, DependencyCondition, DependencyRequest, SessionDetail } from "@/api/types";

/** One session in the launcher's form that must end before the new one starts. */
export interface AfterRow {
  /** React key; not sent to the server. */
  key: string;
  /** Id of the session; "" if none is selected. */
  session: string;
  name: string;
  condition: DependencyCondition;
}

let rows = 0;
export const freshAfter = (): AfterRow => ({
  key: `after-${++rows}`,
  session: "",
  name: "",
  condition: "succeeded",
});

const isVisible = (one: Dependency): one is Dependency & { id: string; name: string } =>
  one.id !== null && one.name !== null;

/** The form rows of a pending session: those of others are over. */
export const afterRows = ({ state, after }: Pick<SessionDetail, "state" | "after">): AfterRow[] =>
  state === "PENDING"
    ? after
        .filter(isVisible)
        .map(({ id, name, condition }) => ({ ...freshAfter(), session: id, name, condition }))
    : [];

/** Whether a row has no session, or the same as an earlier one. */
export const afterFault = (all: readonly AfterRow[], index: number): boolean => {
  const session = all[index]?.session;
  return !session || all.some((other, at) => at < index && other.session === session);
};

/** The dependency as the API takes it. */
export const toDependency = ({ session, condition }: AfterRow): DependencyRequest => ({ session, condition });

/** "k3f" or "k3f:ended": a dependency in CLI syntax. */
export const dependencyWord = ({ session, condition = "succeeded" }: DependencyRequest): string =>
  condition === "succeeded" ? session : `${session}:${condition}`;
