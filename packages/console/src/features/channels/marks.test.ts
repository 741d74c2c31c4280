import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";

test("each mark has a picture and hides the letter", () => {
  const css = readFileSync(join(import.meta.dirname, "marks.css"), "utf8");
  const rules = [...css.matchAll(/^\.mark-([\w-]+) \{\s+--mark: url\("([^"]+)"\);\s+--letter: 0;\s+\}/gm)];
  expect(rules).toHaveLength(css.match(/^\.mark-/gm)?.length ?? 0);
  expect(rules.map(([, id]) => id)).toContain("openai");
  const require = createRequire(import.meta.url);
  for (const [, , file = ""] of rules) expect(readFileSync(require.resolve(file), "utf8")).toContain("<svg");
});
