/** A generator of numbers from 0 to below 1 that gives the same ones for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly additionalProperties?: Schema | boolean;
}

const TEXTS = [
  "",
  " ",
  "x",
  "default",
  "1",
  "0",
  "-1",
  "true",
  "null",
  "undefined",
  "NaN",
  "a".repeat(70),
  "名".repeat(300),
  "b".repeat(20_000),
  "\u{1f600}\u200d\u202e",
  "\ud800",
  "a\u0000b",
  "line\r\nSet-Cookie: x=y",
  "' or 1=1 --",
  '"; drop table users; --',
  "%' escape '!",
  "\\",
  "<script>alert(1)</script>",
  "../../etc/passwd",
  "${7*7}{{7*7}}",
  "{}",
  "[",
  '{"a":',
  '{"__proto__":{"role":100}}',
  "1e309",
  "2026-13-45T99:99:99Z",
];
const NUMBERS = [
  0,
  1,
  2,
  -1,
  3,
  0.5,
  -0.1,
  1e9,
  2 ** 31,
  2 ** 32,
  2 ** 53 - 1,
  2 ** 53,
  -(2 ** 53),
  1e21,
  1e308,
  -1e308,
];
const ODD: readonly unknown[] = [
  null,
  true,
  false,
  [],
  {},
  [[[[]]]],
  [1],
  ["x"],
  [null],
  { a: { b: { c: {} } } },
  "x",
  1,
  1.5,
];
const UNKNOWN_NAMES = [
  "__proto__",
  "constructor",
  "toString",
  "role",
  "quota",
  "user_id",
  "id",
  "deleted_at",
  "名",
  "",
];

/** Mostly values at the edges of a schema; sometimes others. */
export function valueFor(schema: Schema, random: () => number, depth = 0): unknown {
  if (random() < 0.2 || depth > 4) return pick(ODD, random);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return pick([...schema.enum, "other"], random);
  if (schema.anyOf) return valueFor(pick(schema.anyOf, random), random, depth);
  return ofType(schema, random, depth);
}

function ofType(schema: Schema, random: () => number, depth: number): unknown {
  switch (schema.type) {
    case "string":
      return pick(TEXTS, random);
    case "integer":
    case "number":
      return pick(NUMBERS, random);
    case "boolean":
      return random() < 0.5;
    case "array":
      return Array.from({ length: Math.floor(random() * 4) }, () => valueFor(schema.items ?? {}, random, depth + 1));
    case "object":
      return objectFor(schema, random, depth);
    default:
      return pick([...ODD, ...TEXTS, ...NUMBERS], random);
  }
}

function objectFor({ properties = {}, additionalProperties }: Schema, random: () => number, depth: number): object {
  const object: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [name, schema] of Object.entries(properties)) {
    if (random() < 0.8) object[name] = valueFor(schema, random, depth + 1);
  }
  const extra = typeof additionalProperties === "object" ? additionalProperties : {};
  if (random() < 0.4) object[pick([...UNKNOWN_NAMES, "x"], random)] = valueFor(extra, random, depth + 1);
  return object;
}

/** Text of a query or path value. */
export function textFor(schema: Schema, random: () => number): string {
  const value = random() < 0.5 ? pick(TEXTS, random) : valueFor(schema, random);
  return typeof value === "string" ? value : JSON.stringify(value);
}

function pick<T>(from: readonly T[], random: () => number): T {
  return from[Math.floor(random() * from.length)] as T;
}
