import type { Checkout } from "./checkout.ts";
import type { Names } from "./names.ts";

const PRICING = "packages/gateway/src/billing/pricing";
/** US dollars per thousand calls, until someone enters the vendor's price. */
const FIRST_PRICE = 10;

/** Adds a tool that a vendor runs and charges by the call; returns the next steps. */
export function newToolPrice(checkout: Checkout, { kebab, snake }: Names): string {
  checkout.insertBefore(`${PRICING}/surcharges.ts`, / {2}web_search: \d+,/, `  ${snake}: ${FIRST_PRICE},\n`);
  checkout.create(`${PRICING}/${kebab}.test.ts`, test(snake));
  return `the vendor's price in TOOL_PRICES and its source above the table; a vector with an answer that calls the tool`;
}

function test(tool: string): string {
  return `import { expect, it } from "vitest";
import { HostedCalls } from "../../dialects/core/hosted-calls.ts";
import { toNumber } from "../money/ratio.ts";
import { createSurcharges } from "./surcharges.ts";

it("counts the calls of ${tool} that an answer names, each once", () => {
  const calls = new HostedCalls();
  const item = { type: "${tool}_call", id: "call-1", status: "completed" };
  calls.see({ output: [item, { ...item, id: "call-2" }] });
  calls.see({ type: "response.output_item.done", item });
  expect(calls.calls).toEqual({ ${tool}: 2 });
});

it("has a price for ${tool}, which an operator may replace for a model", () => {
  const price = createSurcharges(undefined, undefined).toolPrice("${tool}", "any-model");
  expect(price && toNumber(price)).toBe(${FIRST_PRICE});
  const own = createSurcharges({ "${tool}/any-model": 3 }, undefined).toolPrice("${tool}", "any-model");
  expect(own && toNumber(own)).toBe(3);
});
`;
}
