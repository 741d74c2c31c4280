import { formatDecimal } from "../../lib/format.ts";

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"] as const;
const STEP = 1024;

/** Formats a size such as `2.9 MiB`. */
export function formatSize(bytes: number, locale: string): string {
  const power = bytes < STEP ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${formatDecimal(bytes / STEP ** power, locale, 0, power === 0 ? 0 : 1)} ${UNITS[power] ?? "B"}`;
}
