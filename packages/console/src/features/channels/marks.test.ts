import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MARKED } from "./marks.ts";

const css = readFileSync(join(import.meta.dirname, "marks.css"), "utf8");

test("each marked channel type has one rule, whose picture exists", () => {
  const rules = [...css.matchAll(/^\.mark-([\w-]+) \{\s+--mark: url\("([^"]+)"\)/gm)];
  expect(rules).toHaveLength(MARKED.size);
  expect(new Set(rules.map(([, id]) => id))).toEqual(MARKED);
  const require = createRequire(import.meta.url);
  for (const [, , file = ""] of rules) expect(readFileSync(require.resolve(file), "utf8")).toContain("<svg");
});
