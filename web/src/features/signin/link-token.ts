/** The token of the one-time link: in the URL fragment, which browsers do not send to servers. */
export function linkToken(hash: string): string | null {
  return new URLSearchParams(hash.replace(/^#/, "")).get("token");
}
