import { findCallRights } from "../access/call-rights.ts";
import * as z from "zod/mini";
import { endpoint, type Access, type Endpoint } from "./endpoint.ts";
import { pathId, queryFlag, queryInt, queryText } from "./envelope.ts";
import { MESSAGE_CODES, type MessageKey } from "./message-codes.ts";
import { MESSAGES } from "./messages.ts";

export const openApi = endpoint({
  name: "openApi",
  method: "GET",
  path: "/api/openapi.json",
  access: "none",
  summary: "This description.",
  answer: "raw",
});

type Json = Record<string, unknown>;
type Schema = z.ZodMiniType;

/** Returns an OpenAPI 3.1 document of these calls. */
export function openApiDocument(
  endpoints: readonly Endpoint[],
  info: { readonly title: string; readonly version: string },
): Json {
  const paths: Record<string, Json> = {};
  for (const [place, calls] of groupByPlace(endpoints)) {
    const [method = "", path = ""] = place.split(" ");
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation(calls) };
  }
  return {
    openapi: "3.1.0",
    info: {
      ...info,
      description:
        "Answers are `{success, message, data}`. A refusal has status 200, `success: false` and a stable `code`; 401 requires a new sign-in.",
    },
    paths,
    components: { schemas: SCHEMAS, responses: RESPONSES, securitySchemes: SECURITY_SCHEMES },
  };
}

/** Groups the calls by method and path, which the narrow and wide forms of a call share. */
function groupByPlace(endpoints: readonly Endpoint[]): Map<string, Endpoint[]> {
  const places = new Map<string, Endpoint[]>();
  for (const call of endpoints) {
    const place = `${call.method} ${call.path}`;
    places.set(place, [...(places.get(place) ?? []), call]);
  }
  return places;
}

function operation(calls: readonly Endpoint[]): Json {
  const [first] = calls;
  if (!first) throw new Error("a path without a call");
  const isAlone = calls.length === 1;
  const bodies = calls.flatMap(({ body }) => (body ? [inputSchema(body)] : []));
  const fails = [...new Set(calls.flatMap((call) => call.fails))];
  return {
    operationId: first.name,
    tags: [first.path.split("/")[2] ?? ""],
    summary: calls.map(({ summary }) => summary).join(" Or: "),
    parameters: [
      ...parameters(first.params, "path", true),
      ...merged(calls.flatMap(({ query }) => parameters(query, "query", isAlone))),
      ...(fails.some((code) => STALE.has(code)) ? [IF_MATCH] : []),
      ...(fails.includes("idempotency_key_reused") ? [IDEMPOTENCY_KEY] : []),
    ],
    ...(bodies.length > 0 && { requestBody: { required: true, content: json(combineSchemas(bodies)) } }),
    responses: responses(first, combineSchemas(calls.map(answerSchema)), fails),
    security: findCallRights(first)?.stepUp === undefined ? SECURITY[first.access] : [CONSOLE],
    ...(fails.length > 0 && { "x-fairway-codes": fails.map((key) => MESSAGE_CODES[key]) }),
  };
}

function responses(call: Endpoint, answer: Json, fails: readonly MessageKey[]): Json {
  const statuses = fails.map((key) => MESSAGES[key].status).filter((status) => status >= 400);
  const own = Object.fromEntries(statuses.map((status) => [String(status), ref("responses", "Refused")]));
  const needsSignIn = call.access !== "none" && call.access !== "try";
  return {
    "200": { description: "Done, or refused in the envelope.", content: buildContent(call, answer) },
    "400": ref("responses", "Refused"),
    ...(needsSignIn && { "401": ref("responses", "SignedOut") }),
    ...(call.body && { "413": ref("responses", "Refused") }),
    "429": ref("responses", "TooMany"),
    ...own,
    "500": ref("responses", "Refused"),
  };
}

function buildContent(call: Endpoint, answer: Json): Json {
  switch (call.answer) {
    case "envelope":
    case "raw":
      return json(call.answer === "envelope" ? combineSchemas([answer, ref("schemas", "Refusal")]) : answer);
    case "stream":
      return { "text/event-stream": { schema: { type: "string" } } };
    case "text":
      return { "text/plain": { schema: { type: "string" } } };
    case "file":
      return { "application/octet-stream": { schema: { type: "string" } } };
  }
}

function answerSchema({ data, answer }: Endpoint): Json {
  if (answer === "raw") return data ? outputSchema(data) : {};
  const properties = {
    success: { const: true },
    message: { type: "string" },
    ...(data && { data: outputSchema(data) }),
  };
  return { type: "object", properties, required: ["success", "message"] };
}

/** Refusals of edits that are based on an older version. */
const STALE: ReadonlySet<MessageKey> = new Set(["entity_changed", "channel_changed"]);
const IF_MATCH: Json = {
  name: "If-Match",
  in: "header",
  required: false,
  schema: { type: "string" },
  description: "ETag of the version that the edit begins with; refused when it has been edited since.",
};

const IDEMPOTENCY_KEY: Json = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  schema: { type: "string", pattern: "^[\\w.\\-:]{1,255}$" },
  description: "Names the change: sent again with the same key and body, it changes nothing.",
};

interface Parameter extends Json {
  readonly name: string;
  readonly required: boolean;
}

function parameters(schema: Schema | undefined, place: "path" | "query", mayRequire: boolean): Parameter[] {
  if (!schema) return [];
  const { properties = {}, required = [] } = inputSchema(schema) as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, shape]) => ({
    name,
    in: place,
    required: place === "path" || (mayRequire && required.includes(name)),
    schema: shape,
  }));
}

function merged(all: readonly Parameter[]): Parameter[] {
  return [...new Map(all.map((parameter) => [parameter.name, parameter])).values()];
}

function combineSchemas(schemas: readonly Json[]): Json {
  const different = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
  return different.length === 1 && different[0] ? different[0] : { anyOf: different };
}

function inputSchema(schema: Schema): Json {
  return jsonSchema(schema, "input");
}

function outputSchema(schema: Schema): Json {
  return jsonSchema(schema, "output");
}

/** Schemas for query text accept anything; the document shows their result. */
const READERS = new Map<unknown, Json>([
  [queryInt, { type: "integer" }],
  [queryText, { type: "string" }],
  [queryFlag, { type: "boolean" }],
  [pathId, { type: "integer", minimum: 1 }],
]);

/** Returns the JSON Schema of an input or output. */
export function jsonSchema(schema: Schema, io: "input" | "output"): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema: made }) => void Object.assign(made, READERS.get(zodSchema)),
  }) as Json;
  return rest;
}

function json(schema: Json): Json {
  return { "application/json": { schema } };
}

function ref(kind: "schemas" | "responses", name: string): Json {
  return { $ref: `#/components/${kind}/${name}` };
}

const CONSOLE = { session: [], user: [] };
const TOKEN = { accessToken: [] };
const SECURITY: Readonly<Record<Access, readonly Json[]>> = {
  none: [],
  try: [{}, CONSOLE, TOKEN],
  user: [CONSOLE, TOKEN],
  admin: [CONSOLE, TOKEN],
  root: [CONSOLE, TOKEN],
  key: [{ relayKey: [] }],
};

const SECURITY_SCHEMES: Json = {
  session: {
    type: "apiKey",
    in: "cookie",
    name: "session",
    description: "Made by a sign-in; `__Host-session` on a site of https.",
  },
  user: { type: "apiKey", in: "header", name: "New-Api-User", description: "Id of the user whose session it is." },
  accessToken: { type: "apiKey", in: "header", name: "Authorization", description: "An access token of a user." },
  relayKey: { type: "http", scheme: "bearer", description: "A key `sk-...` for models." },
};

const SCHEMAS: Json = {
  Refusal: {
    type: "object",
    properties: {
      success: { const: false },
      message: { type: "string" },
      code: { type: "string", description: "Stable name of the message." },
      field: { type: "string", description: "Member of the input that is at fault." },
    },
    required: ["success", "message"],
  },
};

const refusal = json(ref("schemas", "Refusal"));
const RESPONSES: Json = {
  Refused: { description: "Refused.", content: refusal },
  SignedOut: { description: "The caller is not signed in, or the session has ended.", content: refusal },
  TooMany: {
    description: "Too many calls.",
    headers: { "Retry-After": { schema: { type: "integer" }, description: "Seconds." } },
    content: refusal,
  },
};
