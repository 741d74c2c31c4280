import type { SqlValue } from "../engines/raw.ts";

/** Characters that must be escaped in a string literal. */
const SPECIALS = /[\0\\']/g;

/** Returns a value as text of a statement: ClickHouse limits the length of parameters, which are part of the URL. */
export function clickhouseLiteral(value: unknown): string {
  if (typeof value === "string")
    return `'${value.replace(SPECIALS, (found) => (found === "\0" ? "\\0" : `\\${found}`))}'`;
  if (value === null || value === undefined) return "null";
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") return String(value);
  throw new Error(`a value of the kind ${typeof value} is none of the log`);
}

/** Puts the values in place of `?` outside of quotes. */
export function withLiterals(sql: string, values: readonly SqlValue[]): string {
  let at = 0;
  return sql.replace(/'[^']*'|"[^"]*"|\?/g, (part) => (part === "?" ? clickhouseLiteral(values[at++]) : part));
}

/** Returns a pattern of `storage/like.ts`, whose escape character is `!`, with that of ClickHouse, the backslash. */
export function toClickhousePattern(pattern: string): string {
  return pattern.replace(/!(.)|\\/gsu, (_found, escaped: string | undefined) => {
    if (escaped === undefined) return "\\\\";
    return escaped === "%" || escaped === "_" || escaped === "\\" ? `\\${escaped}` : escaped;
  });
}
