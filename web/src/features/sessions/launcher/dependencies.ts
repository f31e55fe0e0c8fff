import type {
  Dependency,
  DependencyCondition,
  DependencyRequest,
  SessionCreate,
  SessionDetail,
} from "@/api/types";
import { rowName } from "@/features/sessions/arrays";

/** One session, or array, in the launcher's form that must end before the new one starts. */
export interface AfterRow {
  /** React key; not sent to the server. */
  key: string;
  /** Id of the session, or of the array; "" if none is selected. */
  session: string;
  array: boolean;
  name: string;
  condition: DependencyCondition;
}

let rows = 0;
export const freshAfter = (): AfterRow => ({
  key: `after-${++rows}`,
  session: "",
  array: false,
  name: "",
  condition: "succeeded",
});

const isVisible = (one: Dependency): one is Dependency & { id: string; name: string } =>
  one.id !== null && one.name !== null;

/** The form rows of a pending session: those of others are over. */
export const afterRows = ({ state, after }: Pick<SessionDetail, "state" | "after">): AfterRow[] =>
  state === "PENDING"
    ? after.filter(isVisible).map(({ id, name, array, condition }) => ({
        ...freshAfter(),
        session: id,
        array: array !== null,
        name: rowName({ name, array }),
        condition,
      }))
    : [];

/** The form rows of a request; the sessions have no names there. */
export const requestedRows = ({ after = [] }: Pick<SessionCreate, "after">): AfterRow[] =>
  after.map((one) => ({ ...freshAfter(), name: one.session, ...one }));

/** Whether a row has no session, or the same as an earlier one. */
export const afterFault = (all: readonly AfterRow[], index: number): boolean => {
  const row = all[index];
  return (
    !row?.session ||
    all.some((other, at) => at < index && other.session === row.session && other.array === row.array)
  );
};

/** The dependency as the API takes it. */
export const toDependency = ({ session, array, condition }: AfterRow): DependencyRequest => ({
  session,
  condition,
  ...(array ? { array } : {}),
});

/** "k3f", "k3f:ended" or "array:k3f:ended": a dependency in CLI syntax. */
export const dependencyWord = ({ session, array, condition = "succeeded" }: DependencyRequest): string =>
  [...(array ? ["array"] : []), session, ...(condition === "succeeded" ? [] : [condition])].join(":");
