import { client } from "./generated/client.gen";
import { toProblem } from "./problem";

let csrfToken: string | null = null;
let onSignedOut: (() => void) | null = null;

/** Every unsafe request carries this token from now on; it comes with the answer to "who am I". */
export function rememberCsrfToken(token: string | null): void {
  csrfToken = token;
}

/** Called whenever the server no longer knows who we are. */
export function whenSignedOut(callback: () => void): void {
  onSignedOut = callback;
}

client.setConfig({ baseUrl: "", throwOnError: true, credentials: "same-origin" });

client.interceptors.request.use((request) => {
  if (csrfToken && !["GET", "HEAD", "OPTIONS"].includes(request.method)) {
    request.headers.set("X-Carrel-CSRF", csrfToken);
  }
  return request;
});

client.interceptors.error.use((error, response, request) => {
  if (error instanceof DOMException && error.name === "AbortError") return error;
  const problem = toProblem(error, response);
  // A wrong password is an answer to the sign-in form, not a lost session.
  if (problem.status === 401 && !request.url.endsWith("/auth/login")) onSignedOut?.();
  return problem;
});

export { client };
