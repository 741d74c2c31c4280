import { expect, it } from "vitest";
import { readLua } from "../redis/read-lua.ts";
import { CONCURRENCY_RETRY_MS, VALUE_MS, WINDOW_PARTS } from "./claims.ts";

it("the scripts count with the same constants as claims in memory", () => {
  for (const text of [
    readLua(import.meta.url, "./lua/claim.lua"),
    readLua(import.meta.url, "./lua/claim-values.lua"),
  ]) {
    expect(text).toContain(`local windowParts = ${WINDOW_PARTS}\n`);
    expect(text).toContain(`local concurrencyRetryMs = ${CONCURRENCY_RETRY_MS}\n`);
  }
  expect(readLua(import.meta.url, "./lua/claim-values.lua")).toContain(`local valueMs = ${VALUE_MS}\n`);
});
