import { client } from "./generated/client.gen";
import { toProblem } from "./problem";
import { identityConfirmation } from "./proof";

const CSRF_HEADER = "X-Carrel-CSRF";

let csrfToken: string | null = null;
let onSignedOut: (() => void) | null = null;

/** CSRF token sent with every unsafe request; it comes with the response of `GET /auth/me`. */
export function rememberCsrfToken(token: string | null): void {
  csrfToken = token;
}

/**
 * Registers a callback for when the server no longer accepts the session, or requires another sign-in step.
 */
export function whenSignedOut(callback: () => void): void {
  onSignedOut = callback;
}

/**
 * Sends a request, and repeats it once where that helps.
 *
 * When the server requires a recent proof of identity, the user is asked for it first. When another tab has
 * renewed the CSRF token, the new one is fetched.
 */
export async function send(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const request = new Request(input, init);
  const again = request.clone();
  const response = await fetch(request);
  if (response.status !== 403) return response;
  const code = await codeOf(response.clone());
  const open =
    (code === "auth.confirm_needed" && (await identityConfirmation.ask())) ||
    (code === "auth.csrf" && (await fetchCsrfToken()));
  return open ? fetch(withToken(again)) : response;
}

async function codeOf(response: Response): Promise<unknown> {
  try {
    return ((await response.json()) as { code?: unknown }).code;
  } catch {
    return null;
  }
}

async function fetchCsrfToken(): Promise<boolean> {
  const before = csrfToken;
  const answer = await fetch("/api/v1/auth/me");
  if (!answer.ok) return false;
  rememberCsrfToken(((await answer.json()) as { csrf_token: string | null }).csrf_token);
  return csrfToken !== before;
}

/** The CSRF header for unsafe requests that do not use this client; null before sign-in. */
export const csrfHeader = (): readonly [name: string, value: string] | null =>
  csrfToken === null ? null : [CSRF_HEADER, csrfToken];

/** Fetches the CSRF token again after another tab renewed it; false when it has not changed. */
export const renewCsrfToken = fetchCsrfToken;

function withToken(request: Request): Request {
  if (csrfToken && !["GET", "HEAD", "OPTIONS"].includes(request.method)) {
    request.headers.set(CSRF_HEADER, csrfToken);
  }
  return request;
}

client.setConfig({ baseUrl: "", throwOnError: true, credentials: "same-origin", fetch: send });

client.interceptors.request.use(withToken);

client.interceptors.error.use((error, response) => {
  if (error instanceof DOMException && error.name === "AbortError") return error;
  const problem = toProblem(error, response);
  if (problem.status === 401 || problem.code.startsWith("auth.pending_")) onSignedOut?.();
  return problem;
});

export { client };
