import { inChunks } from "../lib/chunks.ts";
import type { RawDatabase } from "./engines/raw.ts";

const IDS_PER_STATEMENT = 200;
const NAME_COLUMNS = { tokens: "name", users: "username", channels: "name" } as const;

/** Tables of budget subjects that are identified by id. */
export const SUBJECT_TABLES = { token: "tokens", user: "users", channel: "channels" } as const;

interface Subject {
  readonly scope: "token" | "user" | "channel" | "group" | "model";
  /** The id of a token, user or channel, or the name of a group or model. */
  readonly subject: string;
}

/** Returns the names of budget subjects; "" if no row has that id. */
export async function readSubjectNames(
  raw: Pick<RawDatabase, "rows">,
  subjects: readonly Subject[],
): Promise<(subject: Subject) => string> {
  const readNames = (scope: keyof typeof SUBJECT_TABLES) => {
    const ids = subjects.flatMap((one) => (one.scope === scope ? [Number(one.subject)] : []));
    return readRowNames(raw, SUBJECT_TABLES[scope], ids);
  };
  const [token, user, channel] = await Promise.all([readNames("token"), readNames("user"), readNames("channel")]);
  const names = { token, user, channel };
  return ({ scope, subject }) =>
    scope === "group" || scope === "model" ? subject : (names[scope].get(Number(subject)) ?? "");
}

/** Returns the names of rows by id; deleted users and tokens have one as long as their row exists. */
export async function readRowNames(
  raw: Pick<RawDatabase, "rows">,
  table: keyof typeof NAME_COLUMNS,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const names = new Map<number, string>();
  for (const some of inChunks(ids, IDS_PER_STATEMENT)) {
    const marks = some.map(() => "?").join(", ");
    const text = `select id, ${NAME_COLUMNS[table]} as name from ${table} where id in (${marks})`;
    for (const { id, name } of await raw.rows<{ id: number; name: string }>(text, some)) names.set(Number(id), name);
  }
  return names;
}
