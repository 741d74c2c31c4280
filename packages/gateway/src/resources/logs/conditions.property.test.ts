import { eachLogDatabase } from "@fairway/testkit/databases";
import { propertyRuns } from "@fairway/testkit/property-runs";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { insertLogs } from "../../../test/kit/log-rows.ts";
import { openStoreKit, type StoreKit } from "../../../test/kit/store-kit.ts";
import { createMatcher, EVERYTHING, type LogQuery } from "./filter.ts";
import { createLogStore, type LogStore } from "./store.ts";

/** Case, accents, wildcards, the escape character, quotes, white space inside, and characters of two UTF-16 units. */
const TEXTS = [
  "a",
  "A",
  "ä",
  "a\u0308",
  "a_b",
  "a%b",
  "a!b",
  "aXb",
  "a\\b",
  "a\nb",
  " a",
  "'a\"",
  "😀",
  "😀a",
  "ﬁ",
  "0",
  "null",
];
/** Texts are trimmed where they enter; MariaDB would not tell blanks at the end apart. */
const textArbitrary = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom("", ...TEXTS) },
  {
    weight: 1,
    arbitrary: fc.string({ unit: "grapheme", maxLength: 6 }).map((text) => text.replaceAll("\0", "").trimEnd()),
  },
);
const numberArbitrary = fc.nat(3);

const otherArbitrary = fc.oneof(
  fc.constantFrom("", "{broken", '{"use_channel":[]}', '{"use_channel":["7"]}', '{"use_channel":["","7","8"]}'),
  fc
    .array(fc.constantFrom("7", "42", "123456", "1234567"), { maxLength: 3 })
    .map((ids) => JSON.stringify({ admin_info: { use_channel: ids }, list: ["1", "2"] })),
  fc
    .record({ status_code: fc.constantFrom(4, 42, 429), error_code: textArbitrary, error_type: textArbitrary })
    .map((members) => JSON.stringify(members)),
);

const tagArbitrary = fc.constantFrom("a=1", "a=10", "ba=1", "a_=1", "a%=1", "a=😀", "b=A", "b=a");
const tagsArbitrary = fc.array(tagArbitrary, { maxLength: 3 }).map((tags) => [...new Set(tags)].toSorted().join("|"));

const rowArbitrary = fc.record({
  type: fc.constantFrom(0, 1, 2, 2, 5, 5),
  user_id: numberArbitrary,
  username: textArbitrary,
  token_name: textArbitrary,
  token_id: numberArbitrary,
  model_name: textArbitrary,
  channel_id: numberArbitrary,
  group: textArbitrary,
  request_id: textArbitrary,
  use_time: numberArbitrary,
  is_stream: fc.nat(1),
  created_at: fc.integer({ min: 1_000, max: 1_005 }),
  other: otherArbitrary,
  actor: fc.constantFrom("", "u1", "u17", "s1"),
  tags: tagsArbitrary,
  end_user: textArbitrary,
});

const patternArbitrary = fc
  .array(fc.oneof(textArbitrary, fc.constant("%")), { maxLength: 3 })
  .map((parts) => parts.join(""));
const timeArbitrary = fc.constantFrom(0, 1_001, 1_003, 1_005);
/** Every member of a filter. Most filters have few: with all of them, no row would match. */
const MEMBERS: { readonly [M in keyof Required<LogQuery>]: fc.Arbitrary<LogQuery[M]> } = {
  type: numberArbitrary.map((type) => (type === 3 ? 5 : type)),
  username: textArbitrary,
  user_id: numberArbitrary,
  token_name: textArbitrary,
  token_id: numberArbitrary,
  model_name: patternArbitrary,
  start_timestamp: timeArbitrary,
  end_timestamp: timeArbitrary,
  channel: numberArbitrary,
  group: textArbitrary,
  request_id: textArbitrary,
  min_use_time: numberArbitrary,
  is_stream: fc.boolean(),
  has_retry: fc.boolean(),
  code: textArbitrary,
  status: fc.constantFrom(4, 42, 429),
  tags: fc
    .array(fc.oneof(tagArbitrary, fc.constantFrom("a", "b", "a_", "1", "=1")), { maxLength: 2 })
    .map((tags) => tags.join("|")),
  end_user: textArbitrary,
  models: fc.uniqueArray(textArbitrary, { maxLength: 4 }),
  tokens: fc.uniqueArray(textArbitrary, { maxLength: 4 }),
  ownerId: numberArbitrary,
  actor: fc.constantFrom("", "u1", "s1"),
  otherThan: fc.array(numberArbitrary, { maxLength: 2 }),
  isNothing: fc.boolean(),
};

const filterArbitrary = fc
  .record(MEMBERS)
  .chain((all) =>
    fc
      .subarray(Object.keys(MEMBERS) as (keyof LogQuery)[], { maxLength: 3 })
      .map((names): Partial<LogQuery> => Object.fromEntries(names.map((name) => [name, all[name]]))),
  );

eachLogDatabase("filters of the log", (open) => {
  let kit: StoreKit;
  let store: LogStore;

  beforeAll(async () => {
    kit = await openStoreKit(await open());
    store = createLogStore({ ...kit, database: kit.logs, sums: kit.database });
  });
  afterAll(() => kit.database.close());

  test("find the same rows in memory as in the database", async () => {
    const rows = fc.array(rowArbitrary, { minLength: 1, maxLength: 40 });
    const filters = fc.array(filterArbitrary, { minLength: 1, maxLength: 30 });
    const check = fc.asyncProperty(rows, filters, async (some, several) => {
      await kit.logs.db.deleteFrom("logs").execute();
      await insertLogs(kit.logs, some);
      const all = await store.page(EVERYTHING, { offset: 0, limit: 100 });
      for (const filter of several) {
        const query = { ...EVERYTHING, ...filter };
        const found = await store.page(query, { offset: 0, limit: 100 });
        const matched = all.filter(createMatcher(query));
        expect(
          matched.map(({ id }) => id),
          JSON.stringify(filter),
        ).toEqual(found.map(({ id }) => id));
        expect(await store.total(query), JSON.stringify(filter)).toBe(matched.length);
      }
    });
    // The front of ClickHouse runs one statement at a time.
    await fc.assert(check, { numRuns: propertyRuns(open.kind === "clickhouse" ? 25 : 100) });
  });
});
