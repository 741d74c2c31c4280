import { isObject, parseJson, type JsonObject } from "../../lib/text/json.ts";

/** One changed member, as text; undefined = it did not exist. */
interface Change {
  readonly name: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

export interface Changes {
  readonly rows: readonly Change[];
  /** The call is still running, or its result is unknown; what it sent is under `after`. */
  readonly isUnfinished: boolean;
}

/** Members of a JSON object; any other value is one member without a name. */
function parseMembers(text: string | null): JsonObject {
  if (text === null || text === "") return {};
  const value = parseJson(text);
  return isObject(value) ? value : { "": value === undefined ? text : value };
}

function print(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 1);
}

/** Pairs the values before and after, member by member, in the order of the newer object. */
export function diffMembers(oldValue: string | null, newValue: string | null): Changes {
  const before = parseMembers(oldValue);
  const written = parseMembers(newValue);
  const isUnfinished = Object.keys(written).join() === "unfinished";
  const after = isUnfinished ? parseMembers(JSON.stringify(written["unfinished"] ?? {})) : written;
  const names = [...new Set([...Object.keys(after), ...Object.keys(before)])];
  const rows = names.map((name) => ({
    name,
    before: name in before ? print(before[name]) : undefined,
    after: name in after ? print(after[name]) : undefined,
  }));
  return { rows, isUnfinished };
}
