import { sql, type Expression, type RawBuilder, type SqlBool } from "kysely";

/**
 * Text search that means the same on all three databases: case is folded by the database on both sides,
 * and what a caller types is taken literally, `%` and `_` included.
 */

/** The column holds `text` somewhere. */
export function contains(column: Expression<string | null>, text: string): RawBuilder<SqlBool> {
  return folded(column, `%${literal(text)}%`);
}

/** The column begins with `text`. */
export function startsWith(column: Expression<string | null>, text: string): RawBuilder<SqlBool> {
  return folded(column, `${literal(text)}%`);
}

/** The column matches a pattern in which only `%` is a wildcard; case counts. */
export function matches(column: Expression<string | null>, pattern: string): RawBuilder<SqlBool> {
  const like = pattern.split("%").map(literal).join("%");
  return sql<SqlBool>`${column} like ${like} escape '!'`;
}

function folded(column: Expression<string | null>, like: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`lower(${column}) like lower(${like}) escape '!'`;
}

function literal(text: string): string {
  return text.replace(/[!%_]/g, "!$&");
}
