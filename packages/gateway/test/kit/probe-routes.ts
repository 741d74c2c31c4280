import { endpoint, idParams, queryInt, queryText, statusOnly } from "@fairway/wire";
import * as z from "zod/mini";
import { implement, type Route } from "../../src/http/endpoint.ts";
import { AppError } from "../../src/lib/app-error.ts";

/** Calls that only show what the mount makes of a request. */

const base = { access: "none", summary: "" } as const;
const rights = { effect: "read", areas: ["settings"], stepUp: undefined } as const;

export const echo = endpoint({
  ...base,
  name: "echo",
  method: "POST",
  path: "/api/probe/echo",
  body: z.object({
    text: z.optional(z.string().check(z.maxLength(3))),
    count: z.optional(z.int().check(z.minimum(1), z.maximum(9))),
    amount: z.optional(z.number()),
    flag: z.optional(z.boolean()),
    ids: z.optional(z.array(z.int())),
    names: z.optional(z.array(z.string())),
    map: z.optional(z.record(z.string(), z.string())),
  }),
  data: z.unknown(),
});
export const listBody = endpoint({
  ...base,
  name: "listBody",
  method: "PUT",
  path: "/api/probe/list",
  body: z.array(z.object({ key: z.string() })),
  data: z.unknown(),
});
export const query = endpoint({
  ...base,
  name: "query",
  method: "GET",
  path: "/api/probe/query/",
  query: z.object({ p: queryInt, keyword: queryText }),
  data: z.unknown(),
});
export const byId = endpoint({
  ...base,
  name: "byId",
  method: "GET",
  path: "/api/probe/{id}",
  params: idParams,
  data: z.int(),
});
export const literal = endpoint({
  ...base,
  name: "literal",
  method: "GET",
  path: "/api/probe/search",
  data: z.string(),
});
export const full = endpoint({
  ...base,
  name: "full",
  method: "PUT",
  path: "/api/probe/thing",
  body: z.object({}),
  data: z.string(),
});
export const narrow = endpoint({
  ...base,
  name: "narrow",
  method: "PUT",
  path: "/api/probe/thing",
  query: statusOnly,
  body: z.object({}),
  data: z.string(),
});
export const broken = endpoint({ ...base, name: "broken", method: "GET", path: "/api/probe/broken", data: z.string() });
export const outage = endpoint({ ...base, name: "outage", method: "GET", path: "/api/probe/outage", data: z.string() });
export const adminOnly = endpoint({
  ...base,
  name: "adminOnly",
  rights,
  access: "admin",
  method: "GET",
  path: "/api/probe/admin",
  data: z.string(),
});
export const userOnly = endpoint({
  ...base,
  name: "userOnly",
  rights,
  access: "user",
  method: "GET",
  path: "/api/probe/user",
  data: z.int(),
});
export const tried = endpoint({
  ...base,
  name: "tried",
  rights,
  access: "try",
  method: "GET",
  path: "/api/probe/try",
  data: z.string(),
});
export const critical = endpoint({
  ...base,
  name: "critical",
  rate: "critical",
  method: "GET",
  path: "/api/probe/critical",
  data: z.string(),
});
export const withEffects = endpoint({
  ...base,
  name: "withEffects",
  method: "GET",
  path: "/api/probe/effects",
  data: z.string(),
  hasEffects: true,
});
export const open = endpoint({
  ...base,
  name: "open",
  method: "GET",
  path: "/api/probe/open",
  access: "key",
  data: z.string(),
  isCrossOrigin: true,
});
export const navigated = endpoint({
  ...base,
  name: "navigated",
  rights,
  access: "user",
  method: "GET",
  path: "/api/probe/navigated",
  data: z.string(),
  withoutUserHeader: true,
});
export const big = endpoint({ ...base, name: "big", method: "GET", path: "/api/probe/big", data: z.string() });
export const extras = endpoint({
  ...base,
  name: "extras",
  method: "GET",
  path: "/api/probe/extras",
  data: z.array(z.int()),
});
export const plain = endpoint({
  ...base,
  name: "plain",
  method: "GET",
  path: "/api/probe/plain",
  answer: "text",
  data: z.string(),
});

export const probeRoutes: Route[] = [
  implement(echo, ({ body }) => ({ ...body })),
  implement(listBody, ({ body }) => body),
  implement(query, (call) => call.query),
  implement(byId, ({ params }) => params.id),
  implement(literal, () => "literal"),
  implement(full, () => "full"),
  implement(narrow, () => "narrow"),
  implement(outage, () => {
    const cause = new Error("charges are on their way");
    throw new AppError("balances_unavailable", { cause, retryAfterMs: 5_000 });
  }),
  implement(broken, () => {
    throw new Error("SELECT password FROM users");
  }),
  implement(adminOnly, () => "ok"),
  implement(userOnly, ({ caller }) => caller.userId),
  implement(tried, ({ caller }) => caller?.username ?? "nobody"),
  implement(critical, () => "ok"),
  implement(withEffects, () => "done"),
  implement(open, () => {
    throw new AppError("missing_api_key");
  }),
  implement(navigated, () => "ok"),
  implement(big, () => "x".repeat(5000)),
  implement(extras, (call) => {
    call.setTotal(42);
    call.sibling("time", 1.5);
    call.message("done");
    return [];
  }),
  implement(plain, () => "success"),
];
