/** The time zones that the browser knows, and these. */
export const zonesWith = (...others: string[]): string[] => [
  ...new Set(["UTC", ...others, ...Intl.supportedValuesOf("timeZone")]),
];
