import { measureWidth } from "./width.ts";

/** How figures over time are drawn: as bars, as bars of plain letters, or as numbers that are read out. */
export type Signs = "bars" | "letters" | "words";

/**
 * Detects what a terminal can show. It uses letters if the first of LC_ALL, LC_CTYPE and LANG that is set names an
 * encoding other than UTF-8, such as `C`, and on the Linux console, whose font has no bars.
 */
export function detectSigns(env: Readonly<Record<string, string | undefined>>): Exclude<Signs, "words"> {
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"] || "UTF-8";
  return /utf-?8/i.test(locale) && env["TERM"] !== "linux" ? "bars" : "letters";
}

/** Returns whether lines are read out, or the terminal cannot move its cursor: a screen would be garbage. */
export function isLinesOnly(env: Readonly<Record<string, string | undefined>>): boolean {
  return env["INK_SCREEN_READER"] === "true" || env["TERM"] === "dumb";
}

const BARS: Readonly<Record<Exclude<Signs, "words">, string>> = { bars: "▁▂▃▄▅▆▇█", letters: "_.:-=+*#" };

/** Draws a bar for each number, the greatest the highest; a missing measurement is a blank. */
export function formatSparkline(values: readonly (number | undefined)[], signs: Exclude<Signs, "words">): string {
  const bars = Array.from(BARS[signs]);
  const most = Math.max(...values.map((one) => one ?? 0), 1);
  return values.map((one) => (one === undefined ? " " : bars[Math.round((one / most) * (bars.length - 1))])).join("");
}

const LETTERS: Readonly<Record<string, string>> = {
  "…": "~",
  "·": "-",
  "→": ">",
  "↑": "^",
  "↓": "v",
  "▁": "_",
  "▂": ".",
  "▃": ":",
  "▄": "-",
  "▅": "=",
  "▆": "+",
  "▇": "*",
  "█": "#",
};

/** Replaces each sign of this program with a plain letter and cuts the line to the width; names are unchanged. */
export function plainLine(text: string, width: number): string {
  const plain = text.replace(/[…·→↑↓▁-█]/g, (sign) => LETTERS[sign] ?? sign);
  if (measureWidth(plain) <= width) return plain;
  const letters = Array.from(plain);
  while (measureWidth(letters.join("")) > width - 1) letters.pop();
  return `${letters.join("")}~`;
}
