import { sql, type Expression, type ExpressionBuilder, type SqlBool } from "kysely";
import { beginningWith, containing, endingWith, like, withWildcards } from "../../storage/like.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import type { StoredLog } from "./view.ts";

/**
 * What a row of the log must meet. `logs` is read with conditions as SQL, and new rows, which are read once for several
 * readers, are tested in memory. Both are defined here for each kind, and a property test compares them.
 */
export type Condition =
  | { readonly kind: "equal"; readonly column: TextColumn; readonly value: string }
  | { readonly kind: "number"; readonly column: NumberColumn; readonly is: "=" | ">=" | "<="; readonly value: number }
  | { readonly kind: "one of"; readonly column: TextColumn; readonly values: readonly string[] }
  | { readonly kind: "none of"; readonly column: NumberColumn; readonly values: readonly number[] }
  | { readonly kind: "pattern"; readonly column: TextColumn; readonly pattern: string }
  | { readonly kind: "containing"; readonly column: TextColumn; readonly text: string }
  | { readonly kind: "tag"; readonly tag: string }
  /** `isNarrow` says that another condition finds fewer rows. */
  | { readonly kind: "type"; readonly type: number; readonly isNarrow: boolean }
  | { readonly kind: "retried"; readonly isRetried: boolean }
  | { readonly kind: "never" };

type TextColumn = "username" | "token_name" | "model_name" | "group" | "request_id" | "actor" | "end_user" | "other";
type NumberColumn = "user_id" | "token_id" | "channel_id" | "use_time" | "is_stream" | "created_at";

type Builder = ExpressionBuilder<Schema, "logs">;
/** Builder for the log, or for the sums, which have some of its columns. */
export type AnyBuilder =
  | Builder
  | ExpressionBuilder<Schema, "quota_data">
  | ExpressionBuilder<Schema, "facet_sums">
  | ExpressionBuilder<Schema, "log_sums">;

type Test = (row: StoredLog) => boolean;
type Kind = Condition["kind"];
type Of<K extends Kind> = Extract<Condition, { readonly kind: K }>;

/** One kind of condition in SQL and in memory. */
interface Form<C> {
  readonly sql: (eb: Builder, condition: C) => Expression<SqlBool>;
  readonly test: (condition: C) => Test;
}

/** Maximum number of characters of a channel id that the retry filter supports. */
const CHANNEL_DIGITS = 6;

/**
 * The chain of channels is part of the JSON of `other`: `"use_channel":["4","7"]`; a second entry means a retry.
 * The three databases share no JSON function that survives broken JSON, so the text itself is matched.
 */
const wasRetried = sql<SqlBool>`(${sql.join(
  Array.from(
    { length: CHANNEL_DIGITS },
    (_, index) => sql`other like ${`%"use!_channel":["${"_".repeat(index + 1)}","%`} escape '!'`,
  ),
  sql` or `,
)})`;
const RETRIED = new RegExp(`"use_channel":\\[".{1,${CHANNEL_DIGITS}}","`, "su");

const FORMS: { readonly [K in Kind]: Form<Of<K>> } = {
  equal: {
    sql: (eb, { column, value }) => eb(column, "=", value),
    test:
      ({ column, value }) =>
      (row) =>
        row[column] === value,
  },
  number: {
    sql: (eb, { column, is, value }) => eb(column, is, value),
    test:
      ({ column, is, value }) =>
      (row) =>
        compare(row[column], is, value),
  },
  "one of": {
    sql: (eb, { column, values }) => eb(column, "in", values),
    test:
      ({ column, values }) =>
      (row) =>
        values.includes(row[column]),
  },
  "none of": {
    sql: (eb, { column, values }) => eb(column, "not in", values),
    test:
      ({ column, values }) =>
      (row) =>
        !values.includes(row[column]),
  },
  pattern: {
    sql: (_, { column, pattern }) => like(column, withWildcards(pattern)),
    test: ({ column, pattern }) => {
      const matched = buildPattern(pattern);
      return (row) => matched.test(row[column]);
    },
  },
  containing: {
    sql: (_, { column, text }) => like(column, containing(text)),
    test:
      ({ column, text }) =>
      (row) =>
        row[column].includes(text),
  },
  // A tag is at the start of the column or behind a bar, and ends with it or before one. A key alone finds any value.
  tag: {
    sql: (eb, { tag }) =>
      tag.includes("=")
        ? eb.or([
            eb("tags", "=", tag),
            like("tags", beginningWith(`${tag}|`)),
            like("tags", endingWith(`|${tag}`)),
            like("tags", containing(`|${tag}|`)),
          ])
        : eb.or([like("tags", beginningWith(`${tag}=`)), like("tags", containing(`|${tag}=`))]),
    test: ({ tag }) => {
      const text = tag.includes("=") ? `|${tag}|` : `|${tag}=`;
      return (row) => `|${row.tags}|`.includes(text);
    },
  },
  // Nearly every row has the same type, so with a narrower condition its index would only mislead the planner.
  type: {
    sql: (eb, { type, isNarrow }) => (isNarrow ? sql<SqlBool>`type + 0 = ${type}` : eb("type", "=", type)),
    test:
      ({ type }) =>
      (row) =>
        row.type === type,
  },
  retried: {
    sql: (eb, { isRetried }) => (isRetried ? wasRetried : eb.not(wasRetried)),
    test:
      ({ isRetried }) =>
      (row) =>
        RETRIED.test(row.other) === isRetried,
  },
  never: {
    sql: () => sql<SqlBool>`1 = 0`,
    test: () => () => false,
  },
};

/** Returns conditions as SQL, for tables that have their columns with the same kinds of values. */
export function toExpressions(builder: AnyBuilder, conditions: readonly Condition[]): Expression<SqlBool>[] {
  return conditions.map((condition) => getForm(condition).sql(builder as Builder, condition));
}

/** Returns a test that is true for the rows that the database finds with the same conditions. */
export function toTest(conditions: readonly Condition[]): Test {
  const tests = conditions.map((condition) => getForm(condition).test(condition));
  return (row) => tests.every((isMet) => isMet(row));
}

function getForm({ kind }: Condition): Form<Condition> {
  return FORMS[kind] as Form<Condition>;
}

function compare(a: number, is: Of<"number">["is"], b: number): boolean {
  if (is === "=") return a === b;
  return is === ">=" ? a >= b : a <= b;
}

/** Returns the pattern: `%` matches any text, everything else matches itself. */
export function buildPattern(text: string): RegExp {
  const parts = text.split("%").map((part) => RegExp.escape(part));
  return new RegExp(`^${parts.join(".*")}$`, "s");
}
