import { CALL_RIGHTS, type Endpoint } from "@fairway/wire";
import { describe, expect, test } from "vitest";
import { full, literal, narrow } from "../../test/kit/probe-routes.ts";
import { implement, type Route } from "./endpoint.ts";
import { createRouteTable } from "./route-table.ts";

describe("the route table", () => {
  const route = (change: Partial<Endpoint>): Route => ({
    endpoint: { ...literal, ...change } as Endpoint,
    handler: () => "",
  });

  // @weakness Sessions and permissions: A call has no permission attached
  test("refuses an endpoint without a permission", () => {
    const unlisted = route({ access: "user" });
    expect(() => createRouteTable([unlisted])).toThrow(/missing in the table of rights/);
    expect(() => createRouteTable([route({ access: undefined as never })])).toThrow(/names no permission/);
  });

  test("refuses an endpoint that is implemented twice", () => {
    expect(() => createRouteTable([route({}), route({ name: "again" })])).toThrow(/answer the same calls/);
    expect(() =>
      createRouteTable([implement(narrow, () => ""), implement(narrow, () => ""), implement(full, () => "")]),
    ).toThrow(/implemented twice/);
  });

  test("refuses one path with two permissions", () => {
    const stricter = {
      endpoint: { ...narrow, access: "root", rights: CALL_RIGHTS["optionList"] } as Endpoint,
      handler: () => "",
    };
    expect(() => createRouteTable([implement(full, () => ""), stricter])).toThrow(/another permission/);
  });
});
