/** The token of the one-time link that opened this page: behind the #, which browsers send to nobody. */
export function linkToken(hash: string): string | null {
  return new URLSearchParams(hash.replace(/^#/, "")).get("token");
}
