export const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;
export type Signal = (typeof SIGNALS)[number];

/** How the main process is asked to end; null: as requested with the session. */
export interface Ending {
  signal: Signal | null;
  grace_s: number | null;
}

/** The values that are set. */
export const given = ({ signal, grace_s }: Ending) => ({
  ...(signal ? { signal } : {}),
  ...(grace_s === null ? {} : { grace_s }),
});

/** The options of the command. */
export const endingWords = ({ signal, grace_s }: Ending): string[] => [
  ...(signal ? ["--signal", signal.replace("SIG", "")] : []),
  ...(grace_s === null ? [] : ["--grace", `${grace_s}s`]),
];
