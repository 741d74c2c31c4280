// Losses are found by comparing a transform's request with its result, so that no transform can drop something
// unnoticed.
import { isObject, isSet } from "../../dialects/core/read.ts";
import type { JsonObject, JsonValue } from "../../dialects/core/types.ts";

/** Members that are in the path, or that the gateway itself sets. */
const OF_THE_GATEWAY: ReadonlySet<string> = new Set(["model", "stream", "stream_options"]);

/**
 * Returns the paths of what `after` lacks: missing members, shorter lists and, outside of lists, changed values. A
 * renamed member is not lost, and neither is a path in `reworded`.
 */
export function findLost(before: JsonObject, after: JsonObject, reworded: readonly string[] = []): string[] {
  if (before === after) return [];
  const lost = new Set<string>();
  compareObjects(before, after, { path: "", isListed: false, lost, reworded: new Set(reworded) });
  return [...lost];
}

interface Place {
  readonly path: string;
  /** True inside a list item: values there are the client's content, which vendors word differently. */
  readonly isListed: boolean;
  readonly lost: Set<string>;
  readonly reworded: ReadonlySet<string>;
}

function compareObjects(before: JsonObject, after: JsonObject, place: Place): void {
  for (const name in before) {
    const value = before[name];
    if (!isSet(value) || value === after[name]) continue;
    if (place.path === "" && OF_THE_GATEWAY.has(name)) continue;
    const path = place.path === "" ? name : `${place.path}.${name}`;
    if (place.reworded.has(path)) continue;
    if (isSet(after[name])) compare(value, after[name], { ...place, path });
    else if (!isRenamed(value, before, after)) place.lost.add(path);
  }
}

function compare(before: JsonValue, after: JsonValue, place: Place): void {
  if (Array.isArray(before)) {
    if (Array.isArray(after)) compareLists(before, after, place);
  } else if (isObject(before)) {
    if (isObject(after)) compareObjects(before, after, place);
  } else if (!place.isListed && !(Array.isArray(after) && after.includes(before))) place.lost.add(place.path);
}

function compareLists(before: readonly JsonValue[], after: readonly JsonValue[], place: Place): void {
  if (after.length < before.length) return void place.lost.add(place.path);
  if (after.length > before.length) return;
  for (const [at, item] of before.entries()) {
    const other = after[at];
    if (item !== other && isObject(item) && isObject(other)) compareObjects(item, other, { ...place, isListed: true });
  }
}

/** True if some member of the result is new and has this value. */
function isRenamed(value: JsonValue, before: JsonObject, after: JsonObject): boolean {
  return Object.keys(after).some((name) => !isSet(before[name]) && after[name] === value);
}
