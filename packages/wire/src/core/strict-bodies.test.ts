import { describe, expect, it } from "vitest";
import type * as z from "zod/mini";
import * as wire from "../index.ts";
import type { Endpoint } from "./endpoint.ts";

const endpoints = Object.values<unknown>(wire).filter(
  (value): value is Endpoint => typeof value === "object" && value !== null && "access" in value && "method" in value,
);

interface Definition {
  readonly type: string;
  readonly shape?: Readonly<Record<string, z.ZodMiniType>>;
  readonly catchall?: z.ZodMiniType;
  readonly element?: z.ZodMiniType;
  readonly innerType?: z.ZodMiniType;
  readonly in?: z.ZodMiniType;
  readonly options?: readonly z.ZodMiniType[];
}

/** Returns the paths of objects in a schema that accept undeclared members. */
function looseObjects(schema: z.ZodMiniType, path: string): string[] {
  const definition = schema._zod.def as unknown as Definition;
  const inner = [definition.element, definition.innerType, definition.in, ...(definition.options ?? [])];
  const found = inner.flatMap((one) => (one ? looseObjects(one, path) : []));
  if (!definition.shape) return found;
  const isStrict = (definition.catchall?._zod.def as Definition | undefined)?.type === "never";
  const members = Object.entries(definition.shape).flatMap(([name, one]) => looseObjects(one, `${path}.${name}`));
  return [...(isStrict ? [] : [path]), ...found, ...members];
}

/** Objects that a user or a browser composes freely, and limits, whose unknown members the handler refuses. */
const FREE = [
  "selfPreferencesUpdate",
  "teamTokenCreate.limits",
  "teamTokenUpdate.limits",
  "tokenCreate.limits",
  "tokenUpdate.limits",
  "userUpdate.limits",
];

describe("bodies", () => {
  it("refuse every member that they do not name, at every depth", () => {
    const loose = endpoints.flatMap(({ name, body }) => (body ? looseObjects(body, name) : []));
    expect(loose.toSorted()).toEqual(FREE.toSorted());
  });

  it("of calls in the list of compatible members exist", () => {
    const names = new Set(endpoints.filter(({ body }) => body !== undefined).map(({ name }) => name));
    for (const name of Object.keys(wire.COMPATIBLE_MEMBERS)) expect(names).toContain(name);
  });
});

describe("members of compatible consoles", () => {
  const clean = (call: string, body: object) => wire.withoutCompatibleMembers(call, body, ["name", "channel"]);

  it("pass when blank, in every form of blank that a console sends", () => {
    for (const blank of ["", "  ", null, 0, false, [], {}, "{}", "null", '{"a":false,"b":{"c":""}}', { a: [0] }])
      expect(clean("channelCreate", { name: "x", settings: blank })).toEqual({ body: { name: "x" } });
    expect(clean("channelUpdate", { name: "x", multi_key_mode: "random" })).toEqual({ body: { name: "x" } });
  });

  it("are refused by name when filled", () => {
    const fault = (path: string[]) => ({ fault: { path, reason: "is not supported; leave it empty" } });
    for (const filled of ["x", 1, true, ["a"], '{"a":true}', "{broken"])
      expect(clean("channelUpdate", { settings: filled })).toEqual(fault(["settings"]));
    expect(clean("channelCreate", { channel: { name: "x", remark: "y" } })).toEqual(fault(["channel", "remark"]));
  });

  it("of the row that a form was loaded with are left out, those of other rows are not", () => {
    expect(clean("tokenUpdate", { name: "x", used_quota: 5, created_time: 1 })).toEqual({ body: { name: "x" } });
    expect(clean("tokenUpdate", { name: "x", balance: 5 })).toEqual({ body: { name: "x", balance: 5 } });
  });

  it("do not open calls that compatible consoles do not have", () => {
    expect(clean("budgetUpdate", { name: "x", remark: "" })).toEqual({ body: { name: "x", remark: "" } });
  });
});
