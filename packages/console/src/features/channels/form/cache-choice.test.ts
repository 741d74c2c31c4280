import { expect, test } from "vitest";
import { NO_MARKS, readCacheChoice, writeCacheChoice } from "./cache-choice.ts";

test("a setting without the members, or none, means no marks", () => {
  for (const setting of ["", null, undefined, "{}", '{"prompt_cache":""}', "no JSON"])
    expect(readCacheChoice(setting)).toEqual(NO_MARKS);
  expect(readCacheChoice('{"prompt_cache":"auto","prompt_cache_ttl":"1h"}')).toEqual({
    prompt_cache: "auto",
    prompt_cache_ttl: "1h",
  });
});

test("a choice changes its members alone, and defaults are left out", () => {
  const proxied = '{"proxy":"****","prompt_cache":"auto"}';
  expect(writeCacheChoice(proxied, readCacheChoice(proxied))).toBeUndefined();
  expect(writeCacheChoice("", NO_MARKS)).toBeUndefined();
  const always = { prompt_cache: "always", prompt_cache_ttl: "1h" };
  expect(writeCacheChoice(proxied, always)).toBe('{"proxy":"****","prompt_cache":"always","prompt_cache_ttl":"1h"}');
  expect(writeCacheChoice(proxied, NO_MARKS)).toBe('{"proxy":"****"}');
  expect(writeCacheChoice('{"prompt_cache":"auto"}', NO_MARKS)).toBe("");
});
