import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../bootstrap.mjs";

it("shows every picture that is stored, and stores every picture that is shown", () => {
  const pages = globSync(["*.md", "docs/**/*.md"], { cwd: ROOT }).map((page) => readFileSync(join(ROOT, page), "utf8"));
  const shown = pages.flatMap((text) => [...text.matchAll(/pictures\/([\w-]+\.png)/g)].map(([, name = ""]) => name));
  expect(globSync("*.png", { cwd: join(ROOT, "docs/pictures") }).toSorted()).toEqual([...new Set(shown)].toSorted());
});

it("has a walk through the terminal that moves", () => {
  expect(readFileSync(join(ROOT, "docs/pictures/fairway-ui.png")).includes("acTL")).toBe(true);
});
