/** The wire types under the names the page uses; everything here comes from the generated client. */
export type {
  AppView as App,
  HistoryView as HistoryEntry,
  ImageView as Image,
  KeypairCreated as NewKeypair,
  KeypairView as Keypair,
  Me,
  ProjectRef as Project,
  ResourcesView as Resources,
  SessionCreate,
  SessionDetail,
  SessionState,
  SessionView as Session,
} from "./generated/types.gen";

/** Amounts by slot, in base units: `cpu` in millicores, `mem` in bytes. */
export type Slots = Readonly<Record<string, number>>;
