export interface Release {
  number: string;
  /** Git revision, if the server runs from a checkout. */
  revision: string | null;
}

/** Parses a version string such as `0.5.0+g1a2b3c4`. */
export function releaseOf(version: string): Release {
  const [number = "", revision] = version.split("+g");
  return { number, revision: revision || null };
}
