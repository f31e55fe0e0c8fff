export interface Release {
  number: string;
  /** Of the code, where the server runs from a checkout. */
  revision: string | null;
}

/** The parts of a version as the server writes it, such as `0.5.0+g1a2b3c4`. */
export function releaseOf(version: string): Release {
  const [number = "", revision] = version.split("+g");
  return { number, revision: revision || null };
}
