/** An error response of the server (RFC 9457), or the page's own message when the server did not respond. */
export class Problem extends Error {
  readonly status: number;
  /** Stable dotted code, such as "session.name_taken". */
  readonly code: string;
  readonly hint: string | null;
  /** The invalid input, such as "slots.cpu". */
  readonly field: string | null;
  readonly requestId: string | null;
  /** Further details, such as `retry_after_s`. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(init: {
    status: number;
    code: string;
    detail: string;
    hint?: string | null;
    field?: string | null;
    requestId?: string | null;
    details?: Record<string, unknown>;
  }) {
    super(init.detail);
    this.name = "Problem";
    this.status = init.status;
    this.code = init.code;
    this.hint = init.hint || null;
    this.field = init.field ?? null;
    this.requestId = init.requestId ?? null;
    this.details = init.details ?? {};
  }

  /** The server did not respond: network failure, restart or proxy error. */
  get unreachable(): boolean {
    return this.status === 0 || this.status === 502 || this.status === 504;
  }

  /** The same request may succeed later. */
  get temporary(): boolean {
    return this.status === 0 || this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

/** Converts what a request threw to a problem; `response` is absent when the server did not respond. */
export function toProblem(error: unknown, response?: Response): Problem {
  if (error instanceof Problem) return error;
  if (!response) {
    return new Problem({
      status: 0,
      code: "server.unreachable",
      detail: error instanceof Error ? error.message : "",
    });
  }
  const body = typeof error === "object" && error !== null ? (error as Record<string, unknown>) : {};
  const text = (key: string) => (typeof body[key] === "string" ? (body[key] as string) : null);
  return new Problem({
    status: response.status,
    code: text("code") ?? `http.${response.status}`,
    detail: text("detail") ?? text("title") ?? (response.statusText || `HTTP ${response.status}`),
    hint: text("hint"),
    field: text("field"),
    requestId: text("request_id"),
    details:
      typeof body.details === "object" && body.details !== null
        ? (body.details as Record<string, unknown>)
        : {},
  });
}
