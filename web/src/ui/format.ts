const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;

/** "1 GiB", "1.5 GiB", "512 MiB": at most one decimal, as in the server's messages. */
export function formatSize(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value.toFixed(1).replace(/\.0$/, "")} ${UNITS[unit]}`;
}

/** "64 MiB", "1.25 GiB", "1152 MiB": in the largest unit that needs at most two decimals, for a field. */
export function sizeWord(bytes: number): string {
  const largest = UNITS.findLastIndex((_, unit) => unit === 0 || bytes >= 1024 ** unit);
  const exact = UNITS.findLastIndex(
    (_, unit) =>
      unit <= largest && unit >= Math.min(largest, 2) && Number.isInteger((bytes / 1024 ** unit) * 100),
  );
  const unit = exact < 0 ? largest : exact;
  return `${Math.round((bytes / 1024 ** unit) * 100) / 100} ${UNITS[unit]}`;
}

const SIZE = /^\s*(\d*[.,]?\d*)\s*(?:(b)|([kmgtp])(?:i|ib|b)?)?\s*$/i;

/** The bytes of "64 MiB", "64m" or "1.5 g"; of a bare number in this unit, such as "GiB". null: not a size. */
export function readSize(text: string, unit: string): number | null {
  const [, number = "", plain, prefix] = SIZE.exec(text) ?? [];
  if (!SIZE.test(text)) return null;
  const letter = (plain ?? prefix ?? unit).charAt(0).toUpperCase();
  const power = UNITS.findIndex((one) => one.startsWith(letter));
  return Math.round(Number(number.replace(",", ".") || 0) * 1024 ** power);
}

/** "0.5", "2": millicores as cores. */
export function formatCores(cpuMillis: number): string {
  return String(Math.round(cpuMillis) / 1000);
}

/** "1g", "1536m" or plain bytes: the shortest exact CLI spelling. */
export function cliSize(bytes: number): string {
  for (const [suffix, size] of [
    ["t", 2 ** 40],
    ["g", 2 ** 30],
    ["m", 2 ** 20],
    ["k", 2 ** 10],
  ] as const) {
    if (bytes >= size && bytes % size === 0) return `${bytes / size}${suffix}`;
  }
  return String(bytes);
}

const LADDER = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
] as const;

/** "12s", "4m 10s", "3h 05m", "2d 04h": at most two units, abbreviated for the language. */
export function formatDuration(milliseconds: number, locale: string): string {
  let rest = Math.max(0, Math.floor(milliseconds / 1000));
  const first = LADDER.findIndex(([unit, size]) => rest >= size || unit === "second");
  return LADDER.slice(first, first + 2)
    .map(([unit, size], index) => {
      const amount = Math.floor(rest / size);
      rest -= amount * size;
      return inUnit(amount, unit, locale, "narrow", { minimumIntegerDigits: index + 1 });
    })
    .join(locale === "ja" ? "" : " ");
}

/** "3 days", "20 minutes": a duration in the largest unit that divides it, written out. */
export function formatWhole(seconds: number, locale: string): string {
  const [unit, size] = LADDER.find(([, each]) => seconds > 0 && seconds % each === 0) ?? ["second", 1];
  return inUnit(seconds / size, unit, locale, "long");
}

/** "5 minutes", "5m", "5分": an amount with its unit. Japanese has words where its short forms are Latin letters. */
export function inUnit(
  amount: number,
  unit: string,
  locale: string,
  unitDisplay: "narrow" | "short" | "long",
  digits: Intl.NumberFormatOptions = {},
): string {
  const japanese = locale === "ja";
  const style = { style: "unit", unit, unitDisplay: japanese ? "long" : unitDisplay } as const;
  const text = new Intl.NumberFormat(locale, { ...style, ...digits }).format(amount);
  return japanese ? text.replaceAll(/\s/g, "") : text;
}

/** The browser's locale if it matches the page's language ("en-GB" for "en"), else the language. */
export function writing(language: string): string {
  const own = typeof navigator === "undefined" ? [] : navigator.languages;
  return own.find((tag) => tag.split("-")[0] === language) ?? language;
}

/** A date and time in the user's locale and time zone. */
export function formatInstant(instant: string | Date, locale: string): string {
  return new Intl.DateTimeFormat(writing(locale), { dateStyle: "medium", timeStyle: "medium" }).format(
    new Date(instant),
  );
}

/** A time of day in the user's locale and time zone. */
export function formatTime(instant: string | Date | number, locale: string): string {
  return new Intl.DateTimeFormat(writing(locale), { timeStyle: "short" }).format(new Date(instant));
}

/** "12.5%": a part of 1 with at most one decimal. */
export function formatPercent(part: number, locale: string): string {
  return new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 1 }).format(part);
}
