import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { ImagePruneView, Rescan } from "@/api/types";

/** What each check is about. */
export const CHECKS: Readonly<Record<string, MessageDescriptor>> = {
  database: msg`Database`,
  engine: msg`Container engine of this machine`,
  gateway: msg`Gateway`,
  disk: msg`Disk of the data directory`,
  transport: msg`Encryption`,
  kernel_limits: msg`Kernel limits`,
  schema: msg`Database schema`,
  clock: msg`Clocks`,
  controllers: msg`Controllers`,
  first_password: msg`First password`,
  engine_state: msg`Engine`,
  node: msg`Node`,
  storage_host: msg`Storage host`,
  mail: msg`Mail`,
};

/** What to do when a check is not passed. */
export const REMEDIES: Readonly<Record<string, MessageDescriptor>> = {
  database: msg`Make sure that PostgreSQL runs and accepts connections.`,
  engine: msg`Make sure that the container engine runs.`,
  gateway: msg`See the log of the gateway in the data directory.`,
  disk: msg`Free space on this disk, or move the data directory to a larger one.`,
  transport: msg`Set a TLS certificate, or put a reverse proxy with TLS in front: passwords can be read on the network.`,
  kernel_limits: msg`One session could exhaust limits that all sessions share. Raise them on the machine.`,
  schema: msg`Prepare the database for this version, or restart Carrel.`,
  clock: msg`Synchronise the clocks of all machines.`,
  controllers: msg`Start the controllers: without them, sessions neither start nor end.`,
  first_password: msg`Change this administrator's password, and delete the file.`,
  engine_state: msg`Check the connection on the page Resources.`,
  node: msg`Bring the machine back; forget the node if it is gone for good.`,
  storage_host: msg`See the storage host on the page Storage.`,
  mail: msg`Set up the mail server on the page Configuration, and send a test mail.`,
};

/** What each kind of difference means. */
export const DIFFERENCES: Readonly<Record<string, MessageDescriptor>> = {
  orphan: msg`Container without a session; it is removed automatically`,
  missing: msg`Running container that the engine does not have; its session is restarted or ended automatically`,
  held: msg`Slots held for a container that does not exist`,
  unheld: msg`Container on a node that holds no slots`,
  overfull: msg`More is held on the node than it offers`,
  device: msg`More than a whole device is held`,
  mount: msg`Ended session that still reserves a folder`,
};

/** Why images stay on nodes. */
export const KEPT_FOR: Record<ImagePruneView["kept"][number]["cause"], MessageDescriptor> = {
  foreign: msg`Stay, not pulled by Carrel`,
  in_use: msg`Stay, in use by a container`,
  needed: msg`Stay, needed by a session, a pull, an environment or Carrel`,
  registered: msg`Stay, registered under a name`,
  recent: msg`Stay, used more recently`,
};

/** What is scanned as a whole. */
export const RESCANS: Record<Rescan["kind"], { title: MessageDescriptor; start: MessageDescriptor }> = {
  registries: { title: msg`Registries`, start: msg`Scan all registries` },
  images: { title: msg`Vulnerabilities of images`, start: msg`Scan all images` },
};
