import { expect, test } from "vitest";
import { viewQuery } from "./view-query.ts";

test("keeps filters and order of an address, and drops the page and the open row", () => {
  expect(viewQuery("?status=3&p=4&row=17&sort=-priority")).toBe("sort=-priority&status=3");
  expect(viewQuery("")).toBe("");
});

test("writes the same filters in the same way, whatever their order was", () => {
  expect(viewQuery("?q=a+b&group=vip")).toBe(viewQuery("?group=vip&q=a%20b"));
});
