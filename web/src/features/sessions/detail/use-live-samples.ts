import { useEffect, useRef, useState } from "react";
import type { Readings } from "@/cache/usage";

export interface Sample {
  at: string;
  cpu_millis: number;
  mem_bytes: number;
}

const NONE: Sample[] = [];

/** The fetched samples and each live one, within the last minutes. */
export function useLiveSamples(past: Sample[] | undefined, readings: Readings, minutes: number): Sample[] {
  const [samples, setSamples] = useState(past ?? NONE);
  const seen = useRef(readings);
  useEffect(() => setSamples(past ?? NONE), [past]);
  useEffect(() => {
    if (seen.current === readings) return;
    seen.current = readings;
    const cpu_millis = readings.cpu_millis.at(-1);
    const mem_bytes = readings.mem_bytes.at(-1);
    if (cpu_millis === undefined || mem_bytes === undefined) return;
    const now = Date.now();
    setSamples((before) => [
      ...before.filter((sample) => Date.parse(sample.at) > now - minutes * 60_000),
      { at: new Date(now).toISOString(), cpu_millis, mem_bytes },
    ]);
  }, [readings, minutes]);
  return samples;
}
