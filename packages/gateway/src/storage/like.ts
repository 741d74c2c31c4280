import { sql, type RawBuilder, type SqlBool } from "kysely";

/** LIKE searches. The query names the escape character because the databases have different defaults. */

const ESCAPE = "!";

/** A pattern that finds `text` anywhere; nothing in it is a wildcard. */
export function containing(text: string): string {
  return `%${literal(text)}%`;
}

/** A pattern that finds texts beginning with `text`. */
export function beginningWith(text: string): string {
  return `${literal(text)}%`;
}

/** A pattern in which `%` stands for any text and everything else for itself. */
export function withWildcards(text: string): string {
  return text.replace(/[!_]/g, (sign) => ESCAPE + sign);
}

/** `column like pattern`, exact in case. */
export function like(column: string, pattern: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`${sql.ref(column)} like ${pattern} escape ${sql.lit(ESCAPE)}`;
}

/** `column like pattern` without regard to case (on SQLite: of the letters a to z). */
export function likeAnyCase(column: string, pattern: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`lower(${sql.ref(column)}) like lower(${pattern}) escape ${sql.lit(ESCAPE)}`;
}

function literal(text: string): string {
  return text.replace(/[!%_]/g, (sign) => ESCAPE + sign);
}
