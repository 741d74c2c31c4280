import { DatabaseSync } from "node:sqlite";

/** Inserts rows into the gateway's own database that no API call could create. */
export function insertRows(
  file: string,
  table: string,
  rows: readonly Readonly<Record<string, string | number>>[],
): void {
  const database = new DatabaseSync(file, { timeout: 10_000 });
  for (const row of rows) {
    const names = Object.keys(row);
    const places = names.map(() => "?").join(", ");
    database
      .prepare(`insert into ${table} (${names.map((name) => `"${name}"`).join(", ")}) values (${places})`)
      .run(...Object.values(row));
  }
  database.close();
}
