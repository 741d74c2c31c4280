const REMEMBERED = 1_000;
const numbered = new Map<string, string>();

/** Replaces `?` with `$1`, `$2`, ... outside of quotes; remembers known texts. */
export function numberPlaceholders(sql: string): string {
  const known = numbered.get(sql);
  if (known !== undefined) return known;
  let count = 0;
  const text = sql.replace(/'[^']*'|"[^"]*"|\?/g, (part) => (part === "?" ? `$${(count += 1)}` : part));
  if (numbered.size < REMEMBERED) numbered.set(sql, text);
  return text;
}

/**
 * Names the statements that are worth preparing: the first short texts. Inserts of many rows have a different text for
 * each number of rows, and servers store prepared statements per connection and limit their number.
 */
export function createStatementNames(limit = 300, longest = 2_000): (sql: string) => string | undefined {
  const names = new Map<string, string>();
  return (sql) => {
    const known = names.get(sql);
    if (known !== undefined) return known;
    if (names.size >= limit || sql.length > longest) return undefined;
    const name = `fw${names.size + 1}`;
    names.set(sql, name);
    return name;
  };
}
