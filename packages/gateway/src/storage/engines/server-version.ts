import type { RawDatabase } from "./raw.ts";

/** The oldest supported server versions. */
const OLDEST = { MariaDB: [10, 5], MySQL: [8, 0], PostgreSQL: [12, 0] } as const;

/**
 * Returns the version of an unsupported server and the required version; undefined for a supported or unknown version.
 */
export async function tooOld(raw: Pick<RawDatabase, "kind" | "rows">): Promise<string | undefined> {
  if (raw.kind === "sqlite") return undefined;
  const [row] = await raw.rows<{ version: string }>("select version() as version", []);
  return judgeVersion(row?.version ?? "");
}

/** `text` is the result of `select version()`. */
export function judgeVersion(text: string): string | undefined {
  const [, postgres, major = "", minor = "0"] = /^(PostgreSQL )?(\d+)(?:\.(\d+))?/.exec(text) ?? [];
  if (major === "") return undefined;
  const product = postgres ? "PostgreSQL" : /mariadb/i.test(text) ? "MariaDB" : "MySQL";
  const [oldest, oldestMinor] = OLDEST[product];
  const isOld = Number(major) < oldest || (Number(major) === oldest && Number(minor) < oldestMinor);
  return isOld ? `${product} ${major}.${minor}: use ${oldest}.${oldestMinor} or newer` : undefined;
}
