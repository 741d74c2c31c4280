import * as z from "zod/mini";
import * as wire from "../../packages/wire/src/index.ts";
import { code, groupBy, page, table } from "./markdown.ts";

const ACCESS: Readonly<Record<wire.Access, string>> = {
  none: "anyone",
  try: "anyone; more when signed in",
  user: "users",
  admin: "administrators",
  root: "the super administrator",
  key: "a relay key",
};

interface Shape {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
}

export function endpoints(): string {
  const all = Object.values<unknown>(wire).filter(isEndpoint);
  const groups = groupBy(all, ({ path }) => path.split("/")[2] ?? "");
  return page(
    "Management API",
    "packages/wire",
    "Answers are `{success, message, data}`. Callers are a signed-in console (cookie and `New-Api-User` header) or an access token (`Authorization`). Fields marked `?` may be left out. [Each call, field by field](api.md).",
    ...groups.map(([group, members]) => {
      const rows = members.map((endpoint) => [
        code(`${endpoint.method} ${endpoint.path}`),
        endpoint.summary,
        ACCESS[endpoint.access],
        describeInput(endpoint),
        describeOutput(endpoint),
      ]);
      return `## ${group}\n\n${table(["Call", "What it does", "Who", "Takes", "Answers"], rows)}`;
    }),
  );
}

function isEndpoint(value: unknown): value is wire.Endpoint {
  return typeof value === "object" && value !== null && "method" in value && "access" in value && "summary" in value;
}

function describeInput({ query, body }: wire.Endpoint): string {
  const parts = [
    query && `query ${describe(toShape(query, "input"))}`,
    body && `body ${describe(toShape(body, "input"))}`,
  ];
  return parts.filter(Boolean).join("; ");
}

function describeOutput({ data, answer }: wire.Endpoint): string {
  if (answer !== "envelope") return answer;
  return data ? describe(toShape(data, "output")) : "";
}

function toShape(schema: z.ZodMiniType, io: "input" | "output"): Shape {
  return z.toJSONSchema(schema, { io, unrepresentable: "any" }) as Shape;
}

function describe(shape: Shape): string {
  if (shape.properties) {
    const names = Object.keys(shape.properties).map((name) => `${name}${shape.required?.includes(name) ? "" : "?"}`);
    return code(`{${names.join(", ")}}`);
  }
  if (shape.items) return `list of ${describe(shape.items)}`;
  if (shape.anyOf) return [...new Set(shape.anyOf.map(describe))].join(" or ");
  return code(typeof shape.type === "string" ? shape.type : "any");
}
