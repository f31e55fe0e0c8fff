/**
 * Remaining time in milliseconds; null if the session may end any moment: the server checks periodically, and
 * waits a minute for missing readings.
 */
export function leftUntil(endsAt: string, now: number): number | null {
  const left = Date.parse(endsAt) - now;
  return left >= 1000 ? left : null;
}
