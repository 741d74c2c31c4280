import { existsSync, readFileSync, readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { VECTORS } from "./vectors/load.ts";

/** The folder that the copies come from; it is there where the contract is worked on. */
const SOURCE = new URL("../../../../shared/spec/vectors/", import.meta.url);

it("holds copies of all vectors as they are now", () => {
  const names = readdirSync(VECTORS);
  expect(names.length).toBeGreaterThan(200);
  if (!existsSync(SOURCE)) return;
  const stale = readdirSync(SOURCE).filter(
    (name) =>
      !names.includes(name) || !readFileSync(new URL(name, VECTORS)).equals(readFileSync(new URL(name, SOURCE))),
  );
  expect(stale, "run: npm run vectors -- --sync").toEqual([]);
});
