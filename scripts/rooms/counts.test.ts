import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../bootstrap.mjs";
import { countFolder } from "./counts.ts";

test("counts files, comments, functions and nouns", () => {
  const folder = mkdtempSync(join(tmpdir(), "fairway-counts-"));
  writeFileSync(join(folder, "a.ts"), "// A comment.\nexport function priceOf(id: number) {\n  return id;\n}\n");
  writeFileSync(
    join(folder, "b.ts"),
    'import { priceOf } from "./a.ts";\nconst double = (id: number) => priceOf(id) * 2;\n',
  );
  expect(countFolder(folder)).toMatchObject({ files: 2, functions: 2, nouns: ["priceOf"], singleImporter: 1 });
  rmSync(folder, { recursive: true });
});

test.each(["gateway", "console", "cli", "wire"])("no function of %s is named as a noun with Of", (name) => {
  expect(countFolder(join(ROOT, "packages", name, "src")).nouns).toEqual([]);
});
