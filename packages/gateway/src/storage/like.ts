import { sql, type RawBuilder, type SqlBool } from "kysely";

/** LIKE searches. The query names the escape character because the databases have different defaults. */

const ESCAPE = "!";

/** Returns a pattern that finds `text` anywhere; nothing in it is a wildcard. */
export function containing(text: string): string {
  return `%${literal(text)}%`;
}

/** Returns a pattern that finds texts that begin with `text`. */
export function beginningWith(text: string): string {
  return `${literal(text)}%`;
}

/** Returns a pattern that finds texts that end with `text`. */
export function endingWith(text: string): string {
  return `%${literal(text)}`;
}

/** Returns a pattern in which `%` matches any text and every other character matches itself. */
export function withWildcards(text: string): string {
  return text.replace(/[!_]/g, (sign) => ESCAPE + sign);
}

/** Returns `column like pattern`, which is case-sensitive. */
export function like(column: string, pattern: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`${sql.ref(column)} like ${pattern} escape ${sql.lit(ESCAPE)}`;
}

/** Returns `column like pattern` without regard to case (on SQLite, only for the letters a to z). */
export function likeAnyCase(column: string, pattern: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`lower(${sql.ref(column)}) like lower(${pattern}) escape ${sql.lit(ESCAPE)}`;
}

function literal(text: string): string {
  return text.replace(/[!%_]/g, (sign) => ESCAPE + sign);
}
