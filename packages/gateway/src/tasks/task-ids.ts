import { isObject } from "../dialects/core/read.ts";
import type { JsonObject, JsonValue } from "../dialects/core/types.ts";
import type { TaskIdRules } from "../providers/core/task-ids.ts";

/** An id that a request names, and where. */
export interface TaskId {
  readonly member: string;
  readonly value: string;
}

interface TaskIds {
  /** The request to send. */
  readonly body: JsonObject;
  readonly ids: readonly TaskId[];
}

/** `task_id`, `videoId`, `ids`, `jobHash`; upstreams in Go ignore case, so common names are matched in any case. */
const WORD = /(?:^|[_-])(?:u*ids?|hash(?:es)?)$/i;
const CAMEL = /[a-z0-9](?:I[dD]s?|U+ID|Hash(?:es)?)$/;
const KNOWN =
  /(?:task|clip|video|audio|song|image|file|element|session|persona|message|job|custom|voice|origin|parent|project)s?(?:ids?|hash)$/;

/** True for names of members that contain ids. */
function isIdMember(name: string): boolean {
  return WORD.test(name) || CAMEL.test(name) || KNOWN.test(name.replaceAll(/[_-]/g, "").toLowerCase());
}

/** Finds the ids of a request, at any depth, and replaces those that clients choose themselves. */
export function readTaskIds(
  body: JsonObject,
  rules: TaskIdRules,
  derive: (member: string, value: string) => string,
): TaskIds {
  const ids: TaskId[] = [];
  const read = (name: string, value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return value.map((item) => read(name, item));
    if (isObject(value)) return object(value);
    if (!isIdMember(name) || typeof value === "boolean" || value === null || value === "") return value;
    const id = String(value);
    if (rules.derived?.has(name)) return derive(name, id);
    const named = rules.within?.(name, id) ?? [id];
    ids.push(...named.map((one) => ({ member: name, value: one })));
    return value;
  };
  const object = (owner: JsonObject): JsonObject =>
    Object.fromEntries(
      Object.entries(owner).map(([name, value = null]) => [name, rules.skipped?.has(name) ? value : read(name, value)]),
    );
  return { body: object(body), ids };
}
