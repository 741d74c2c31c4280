import { isDeepStrictEqual } from "node:util";

/** Thrown where an exchange differs from its vector. */
export class VectorMismatch extends Error {
  constructor(message: string) {
    super(message);
    this.name = "VectorMismatch";
  }
}

/** A text such as `<now>` stands for a value that every run makes anew. */
const PLACEHOLDER = /^<[^<>]+>$/;

export function expectSame(actual: unknown, expected: unknown, where: string): void {
  const difference = differ(actual, expected, where);
  if (difference !== undefined) throw new VectorMismatch(difference);
}

function differ(actual: unknown, expected: unknown, where: string): string | undefined {
  if (typeof expected === "string" && PLACEHOLDER.test(expected) && actual !== undefined) return undefined;
  if (isPlainObject(expected) && isPlainObject(actual)) return differInMembers(actual, expected, where);
  if (Array.isArray(expected) && Array.isArray(actual)) return differInItems(actual, expected, where);
  return isDeepStrictEqual(actual, expected) ? undefined : `${where}: ${show(actual)} instead of ${show(expected)}`;
}

function differInMembers(actual: Members, expected: Members, where: string): string | undefined {
  for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
    if (actual[key] === undefined && expected[key] === undefined) continue;
    const difference = differ(actual[key], expected[key], `${where}.${key}`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function differInItems(actual: readonly unknown[], expected: readonly unknown[], where: string): string | undefined {
  for (let i = 0; i < Math.max(actual.length, expected.length); i++) {
    const difference = differ(actual[i], expected[i], `${where}[${i}]`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

type Members = Readonly<Record<string, unknown>>;

function isPlainObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function show(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > 600 ? `${text.slice(0, 600)}…` : text;
}
