import type { Kysely } from "kysely";
import type { LogDatabase } from "../../storage/log-database.ts";
import { newestLogId } from "../../storage/newest-log.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import type { LogQuery } from "./filter.ts";
import { buildPattern } from "./conditions.ts";

export interface ModelNames {
  /** Returns the filter with names in place of a pattern; unchanged if it has none, or if too many names match. */
  resolve(query: LogQuery): Promise<LogQuery>;
}

/** With more names than this, a list is no better than the pattern. */
const MAX_NAMES = 1_000;
const MAX_MATCHES = 200;
/** Up to this many new rows are cheaper to read than all names. */
const MAX_NEW_ROWS = 50_000;
/** A server assigns ids before their transactions commit: rows with a lower id may appear this much later. */
const LOOK_BACK = 2_000;

interface Known {
  readonly names: Set<string>;
  /** Id of the newest row when the names were read. */
  readonly newest: number;
}

/**
 * Finds the names of models in the log. No index answers a pattern, but one contains the names in order: each is found
 * with one step in it, and new ones are in the newest rows.
 */
export function createModelNames({ db, kind }: LogDatabase): ModelNames {
  let known: Known | undefined;
  let reading: Promise<Known | undefined> | undefined;

  const read = async (): Promise<Known | undefined> => {
    const newest = await newestLogId({ db, kind });
    const isRecent = known !== undefined && newest >= known.newest && newest - known.newest <= MAX_NEW_ROWS;
    const names =
      isRecent && known ? await addNew(db, known) : await (kind === "clickhouse" ? distinctNames(db) : allNames(db));
    known = names && { names, newest };
    return known;
  };
  const current = (): Promise<Known | undefined> => {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };

  return {
    async resolve(query) {
      if (!query.model_name.includes("%")) return query;
      const all = await current();
      if (!all) return query;
      const isMatch = buildPattern(query.model_name);
      const wanted = query.models.length > 0 ? query.models.filter((name) => all.names.has(name)) : [...all.names];
      const models = wanted.filter((name) => isMatch.test(name));
      if (models.length > MAX_MATCHES) return query;
      return { ...query, model_name: "", models, isNothing: query.isNothing === true || models.length === 0 };
    },
  };
}

/** Returns undefined if there are too many. */
async function allNames(db: Kysely<Schema>): Promise<Set<string> | undefined> {
  const names = new Set<string>();
  let last: string | undefined;
  for (;;) {
    let next = db.selectFrom("logs").select("model_name").orderBy("model_name").limit(1);
    if (last !== undefined) next = next.where("model_name", ">", last);
    last = (await next.executeTakeFirst())?.model_name;
    if (last === undefined) return names;
    if (names.size >= MAX_NAMES) return undefined;
    names.add(last);
  }
}

/** Reads the names without an index: a column of ClickHouse has each name once in a part. */
async function distinctNames(db: Kysely<Schema>): Promise<Set<string> | undefined> {
  const rows = await db
    .selectFrom("logs")
    .select("model_name")
    .distinct()
    .limit(MAX_NAMES + 1)
    .execute();
  return rows.length > MAX_NAMES ? undefined : new Set(rows.map(({ model_name }) => model_name));
}

async function addNew(db: Kysely<Schema>, { names, newest }: Known): Promise<Set<string> | undefined> {
  // The inner order limits the search to the newest rows; planners would prefer the order of names.
  const newer = db
    .selectFrom("logs")
    .select("model_name")
    .where("id", ">", newest - LOOK_BACK);
  const bound = newer.orderBy("id").limit(MAX_NEW_ROWS + 2 * LOOK_BACK);
  const rows = db.selectFrom(bound.as("newer")).select("model_name").distinct();
  for (const { model_name } of await rows.execute()) names.add(model_name);
  return names.size > MAX_NAMES ? undefined : names;
}
