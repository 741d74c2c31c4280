// The page about the cluster test lists every scene of the controller.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

test("the page lists each file of scenes, and says which of them run without an API server", () => {
  const text = readFileSync(join(import.meta.dirname, "../../../../docs/operate/cluster-test.md"), "utf8");
  const [, section = ""] = /## Scenes without nodes\n([^]*?)\n## /.exec(text) ?? [];
  const rows = [...section.matchAll(/^\|.*?( \*)? \| `([\w.-]+)` \|$/gm)];
  const listed = new Map(rows.map(([, star, file = ""]) => [file, star !== undefined]));
  const read = (file: string) => readFileSync(join(import.meta.dirname, file), "utf8");
  const runInMemory = read("controller.test.ts");
  const scenes = readdirSync(import.meta.dirname)
    .filter((file) => /\.(?:contract|cluster\.test)\.ts$/.test(file))
    .filter((file) => /^\s*(?:test|describe)(?:\.each)?[(<[]/m.test(read(file)));
  const expected = scenes.map((file) => [file, runInMemory.includes(`./${file}`)] as const);
  expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(expected));
});
