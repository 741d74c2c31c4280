import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "./bootstrap.mjs";

it("the samples of parts are those of the installed clients", () => {
  const script = join(ROOT, "scripts/sdk-parts.ts");
  expect(() => execFileSync(process.execPath, [script, "--check"], { cwd: ROOT, stdio: "pipe" })).not.toThrow();
}, 60_000);
