/** How long is left, in milliseconds; null when it may end any moment: the server looks now and then, and waits a
 *  minute for what it does not know yet. */
export function leftUntil(endsAt: string, now: number): number | null {
  const left = Date.parse(endsAt) - now;
  return left >= 1000 ? left : null;
}
