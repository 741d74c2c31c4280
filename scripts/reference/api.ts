import type * as z from "zod/mini";
import * as wire from "../../packages/wire/src/index.ts";
import { loadComments, type Comments } from "./comments.ts";
import { findMeaning } from "./fields.ts";
import { code, groupBy, page, table, type Row } from "./markdown.ts";

const ACCESS: Readonly<Record<wire.Access, string>> = {
  none: "Anyone.",
  try: "Anyone; callers who are signed in see more.",
  user: "Users.",
  admin: "Administrators.",
  root: "The super administrator.",
  key: "A relay key, `Authorization: Bearer sk-…`; errors have the shape of the model calls.",
};

const INTRODUCTION = `Every call of the management API, field by field, as the gateway describes it to machines under \`GET /api/openapi.json\`. The short table is [endpoints.md](endpoints.md).

## How to call

\`\`\`sh
curl -s https://gateway.example/api/token/ -H "Authorization: $ACCESS_TOKEN"
curl -s -X PUT https://gateway.example/api/user/ -H "Authorization: $ACCESS_TOKEN" -H 'Content-Type: application/json' -d '{"id": 7, "group": "vip"}'
\`\`\`

- **Who calls:** an access token of a user (\`GET /api/user/token\`) in \`Authorization\`, with or without \`Bearer\`; or a session cookie together with the header \`New-Api-User: <id>\`.
- **Input:** JSON, at most 1 MiB where nothing else is said. Unknown members and parameters are ignored, \`null\` counts as absent. Paths answer with and without a slash at the end.
- **Answers:** \`{"success": true, "message": "", "data": …}\`. A refusal has \`success: false\`, a text in \`message\`, a stable \`code\` and, where one member is at fault, \`field\`; its status is 200 but for 400 (no JSON), 401 (sign in again), 404, 413 and 429 (\`Retry-After\` seconds). Where calls are limited, \`X-RateLimit-Limit-Requests\`, \`-Remaining-Requests\` and \`-Reset-Requests\` say what the caller has left.
- **Lists:** \`p\` is the page, from 0 (logs from 1), \`page_size\` at most 100; \`X-Total-Count\` is the number of all rows.
- **Money** is in quota units, 500,000 for a dollar unless \`QuotaPerUnit\` says otherwise. **Times** are seconds since 1970.
- **Concurrent edits:** users, channels, tokens, redemption codes, budgets and the list of options are answered with an \`ETag\`. Sent back as \`If-Match\` with the edit, it is refused with \`G8\` (channels: \`CH20\`) when someone else has edited in the meantime; of several at the same moment one holds. What moves by itself (balances, counters) is no edit.
- **Changes that count once:** \`POST /api/user/manage\` with the action \`add_quota\` and \`POST /api/topup\` take an \`Idempotency-Key\`, 1 to 255 letters, digits and \`. : - _\`. Sent again with the same key and values by the same administrator, they change nothing and answer the balance as it is now. With other values the answer has status 409 and code \`G12\`. The key is part of the row in the ledger and ends with it; what was refused is not remembered.`;

interface Shape {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly items?: Shape;
  readonly additionalProperties?: Shape | boolean;
  readonly anyOf?: readonly Shape[];
  readonly oneOf?: readonly Shape[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly default?: unknown;
}

type Schema = z.ZodMiniType;

export function api(): string {
  const comments = loadComments("packages/wire/src");
  const calls = Object.entries<unknown>(wire).filter((entry): entry is [string, wire.Endpoint] => isEndpoint(entry[1]));
  const objects = namedObjects(calls.map(([, call]) => call));
  const groups = groupBy(calls, ([, { path }]) => path.split("/")[2] ?? "");
  return page(
    "Management API, field by field",
    "packages/wire",
    INTRODUCTION,
    ...groups.flatMap(([group, members]) => [
      `## ${group}`,
      ...members.map(([name, call]) => section(name, call, { comments, objects })),
    ]),
    "## Objects",
    ...[...objects].map(
      ([schema, name]) => `### The object ${name}\n\n${fieldTable(toShape(schema, "output"), name, comments)}`,
    ),
  );
}

interface Context {
  readonly comments: Comments;
  readonly objects: ReadonlyMap<Schema, string>;
}

function section(name: string, call: wire.Endpoint, { comments, objects }: Context): string {
  const parts = [`### ${call.method} ${call.path}`, `${call.summary} ${ACCESS[call.access]}${limitText(call)}`];
  const object = OBJECTS[call.path.split("/")[2] ?? ""] ?? "";
  const rows = (["path", "query", "body"] as const).flatMap((place) =>
    buildRows(place, place === "path" ? call.params : call[place], { owner: name, object, comments }),
  );
  if (rows.length > 0) parts.push(table(["In", "Field", "Type", "Meaning"], rows));
  parts.push(...describeAnswer(name, call, { comments, objects }));
  if (call.fails.length > 0) {
    const refusals = call.fails.map((key) => `${code(wire.MESSAGE_CODES[key])} ${wire.MESSAGES[key].text}`);
    parts.push(`Refused with: ${refusals.join(" · ")}`);
  }
  return parts.join("\n\n");
}

const PROOF = {
  fresh: " Sessions only, within five minutes of a sign-in or a confirmation (`AU9`, `AU10`).",
  session: " Sessions only (`AU9`).",
};

const EFFECT: Readonly<Record<wire.CallEffect, string>> = {
  read: "",
  write: "",
  spend: " Calls an upstream with a stored key.",
  destroy: " Cannot be taken back.",
};

/** Returns the scope that an access token needs for the call. */
function scopeText(rights: wire.CallRights | undefined): string {
  if (!rights || rights.areas.length === 0) return "";
  const { areas, effect } = rights;
  const level = effect === "read" ? "read" : "write";
  if (areas === "any") return ` Scope: \`${level}\` of any area.`;
  const isEverything = areas.length === wire.SCOPE_AREAS.length;
  const scopes = isEverything ? [level] : areas.map((area) => `${area}:${level}`);
  return ` Scope: ${scopes.map(code).join(", ")}.${EFFECT[effect]}`;
}

function limitText(call: wire.Endpoint): string {
  const { rate, humanCheck, bodyBytes } = call;
  const rights = wire.findCallRights(call);
  const texts = [
    scopeText(rights),
    rights?.stepUp === undefined ? "" : PROOF[rights.stepUp],
    rate === "critical" ? " Counts against the critical rate." : "",
    humanCheck ? " Takes `turnstile` in the query where the human check is on." : "",
    bodyBytes > 1024 * 1024 ? ` Bodies up to ${bodyBytes / 1024 / 1024} MiB.` : "",
  ];
  return texts.join("");
}

function describeAnswer(name: string, { data, answer }: wire.Endpoint, { comments, objects }: Context): string[] {
  if (answer === "stream") return ["Answers a stream of server-sent events."];
  if (answer === "file") return ["Answers a file."];
  if (answer === "text") return ["Answers plain text."];
  if (!data) return answer === "raw" ? ["Answers a JSON document."] : ["Answers no data."];
  const { inner, isList } = unwrapped(data);
  const known = objects.get(inner);
  const before = isList ? "a list of" : "";
  if (known !== undefined) {
    return [`Answers ${before || "one"} [${known}](#the-object-${known.toLowerCase()}).`];
  }
  const shape = toShape(inner, "output");
  if (!shape.properties) return [`Answers ${before} ${describeType(shape)}.`.replaceAll("  ", " ")];
  return [`Answers ${isList ? "a list of objects" : "an object"}:`, fieldTable(shape, name, comments)];
}

/** Returns named objects that calls return, so that their fields are listed once. */
function namedObjects(calls: readonly wire.Endpoint[]): Map<Schema, string> {
  const answered = new Set(calls.flatMap(({ data }) => (data ? [unwrapped(data).inner] : [])));
  const named = new Map<Schema, string>();
  for (const [name, value] of Object.entries<unknown>(wire)) {
    if (answered.has(value as Schema) && toShape(value as Schema, "output").properties) {
      named.set(value as Schema, name);
    }
  }
  return named;
}

function unwrapped(schema: Schema): { inner: Schema; isList: boolean } {
  const definition = schema._zod.def as { type?: string; element?: Schema };
  return definition.type === "array" && definition.element
    ? { inner: definition.element, isList: true }
    : { inner: schema, isList: false };
}

/** Descriptions of the groups of calls. */
const OBJECTS: Readonly<Record<string, string>> = {
  user: "User",
  channel: "Channel",
  token: "Token",
  redemption: "Redemption",
  log: "LogRow",
  mj: "Drawing",
  task: "AsyncTask",
};

function buildRows(
  place: string,
  schema: Schema | undefined,
  about: Pick<Walk, "owner" | "object" | "comments">,
): Row[] {
  if (!schema) return [];
  const shape = toShape(schema, "input");
  const list = shape.items?.properties ? shape.items : undefined;
  const fields = fieldRows(list ?? shape, { ...about, prefix: list ? "[]." : "", isAnswer: false });
  if (fields.length === 0) return [[place, "", describeType(shape), ""]];
  return fields.map((row) => [place, ...row]);
}

function fieldTable(shape: Shape, owner: string, comments: Comments): string {
  const rows = fieldRows(shape, { owner, object: owner, comments, prefix: "", isAnswer: true });
  return rows.length === 0 ? `${describeType(shape)}` : table(["Field", "Type", "Meaning"], rows);
}

interface Walk {
  /** Declaration that holds the field. */
  readonly owner: string;
  /** The kind of object that the call is about. */
  readonly object: string;
  readonly comments: Comments;
  readonly prefix: string;
  /** True for answers: only inputs are marked as required or optional. */
  readonly isAnswer: boolean;
}

const DEPTH = 3;

function fieldRows(shape: Shape, walk: Walk): Row[] {
  return Object.entries(shape.properties ?? {}).flatMap(([name, field]) => {
    const full = `${walk.prefix}${name}`;
    const isOpen = !walk.isAnswer && !shape.required?.includes(name);
    const about = walk.comments.about(walk.owner, name) || findMeaning(walk.object, name);
    const meaning = [isOpen ? "" : walk.isAnswer ? "" : "Required.", about, describeLimits(field)].filter(
      (text) => text !== "",
    );
    const row: Row = [code(full), describeType(field), meaning.join(" ")];
    const inner = field.items?.properties ? { of: field.items, mark: "[]." } : { of: field, mark: "." };
    const isDeep = full.split(".").length >= DEPTH;
    return isDeep ? [row] : [row, ...fieldRows(inner.of, { ...walk, prefix: `${full}${inner.mark}` })];
  });
}

function describeType(shape: Shape): string {
  const options = shape.anyOf ?? shape.oneOf;
  if (options) return [...new Set(options.map(describeType))].join(" or ");
  if (shape.enum) return shape.enum.map((one) => code(JSON.stringify(one))).join(", ");
  if (shape.const !== undefined) return code(JSON.stringify(shape.const));
  if (shape.items) return `list of ${describeType(shape.items)}`;
  if (shape.type === "object" && typeof shape.additionalProperties === "object" && !shape.properties) {
    return `object of ${describeType(shape.additionalProperties)}`;
  }
  if (shape.type === undefined) return "any";
  return typeof shape.type === "string" ? shape.type : shape.type.join(" or ");
}

const SAFE = Number.MAX_SAFE_INTEGER;

function describeLimits({ minimum, maximum, minLength, maxLength, maxItems, default: initial }: Shape): string {
  const least = minimum !== undefined && minimum > -SAFE ? `At least ${minimum}.` : "";
  const most = maximum !== undefined && maximum < SAFE ? `At most ${maximum}.` : "";
  const short = minLength !== undefined && minLength > 0 ? `At least ${minLength} characters.` : "";
  const long = maxLength === undefined ? "" : `At most ${maxLength} characters.`;
  const many = maxItems === undefined ? "" : `At most ${maxItems}.`;
  const normal = initial === undefined ? "" : `Default ${code(JSON.stringify(initial))}.`;
  return [least, most, short, long, many, normal].filter((text) => text !== "").join(" ");
}

function isEndpoint(value: unknown): value is wire.Endpoint {
  return typeof value === "object" && value !== null && "method" in value && "access" in value && "summary" in value;
}

function toShape(schema: Schema, io: "input" | "output"): Shape {
  return wire.jsonSchema(schema, io);
}
