// Each command of the pages that the cluster test runs is run there, or has a reason why not.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readPageCommands } from "../src/page-commands.ts";
import { PAGES } from "./scenario/pages.ts";

const scenario = readFileSync(join(import.meta.dirname, "scenario/pages.nodes.test.ts"), "utf8");

describe.each(Object.entries(PAGES))("%s", (page, coverage) => {
  const commands = readPageCommands(page);
  const starts = Object.keys(coverage);

  it("has no command without coverage", () => {
    expect(commands.length).toBeGreaterThan(10);
    expect(commands.filter((command) => !starts.some((start) => command.startsWith(start)))).toEqual([]);
  });

  it("has each command that is covered", () => {
    expect(starts.filter((start) => !commands.some((command) => command.startsWith(start)))).toEqual([]);
  });

  it("is run by the scenario, but for the commands with a reason", () => {
    const run = starts.filter((start) => coverage[start] === undefined);
    expect(run.filter((start) => !scenario.includes(`"${start}"`))).toEqual([]);
  });
});
