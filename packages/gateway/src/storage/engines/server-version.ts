import type { RawDatabase } from "./raw.ts";

/** The oldest servers that the statements of this program are written for. */
const OLDEST = { MariaDB: [10, 5], MySQL: [8, 0], PostgreSQL: [12, 0] } as const;

/** What a server that is too old calls itself, and what would do; undefined for one that will do or names no version. */
export async function tooOld(raw: Pick<RawDatabase, "kind" | "rows">): Promise<string | undefined> {
  if (raw.kind === "sqlite") return undefined;
  const [row] = await raw.rows<{ version: string }>("select version() as version", []);
  return judgeVersion(row?.version ?? "");
}

/** `text` is what `select version()` answers. */
export function judgeVersion(text: string): string | undefined {
  const [, postgres, major = "", minor = "0"] = /^(PostgreSQL )?(\d+)(?:\.(\d+))?/.exec(text) ?? [];
  if (major === "") return undefined;
  const product = postgres ? "PostgreSQL" : /mariadb/i.test(text) ? "MariaDB" : "MySQL";
  const [oldest, oldestMinor] = OLDEST[product];
  const isOld = Number(major) < oldest || (Number(major) === oldest && Number(minor) < oldestMinor);
  return isOld ? `${product} ${major}.${minor}: use ${oldest}.${oldestMinor} or newer` : undefined;
}
