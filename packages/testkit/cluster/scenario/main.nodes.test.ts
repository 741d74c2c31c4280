// `npm run cluster -- 1` names the commands that come next, and they work.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createReader } from "./reader.ts";

const PROGRAM = join(import.meta.dirname, "../main.ts");
const POLL = { timeout: 300_000, interval: 500 };

it("starts a node with the image, on which the printed commands install and test the chart", async () => {
  const child = spawn(process.execPath, [PROGRAM, "1"], { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part: Buffer) => (said += part.toString()));
  const closed = once(child, "close") as Promise<[number | null]>;
  try {
    await expect.poll(() => said, POLL).toContain("Ctrl+C ends it.");
    const commands = [...said.matchAll(/^ {2}((?:export|helm|kubectl) .*)$/gm)].map(([, command = ""]) => command);
    const start = (word: string) => commands.filter((command) => command.startsWith(word));
    const [kubeconfig = "", path = ""] = start("export");
    const reader = createReader({ kubeconfig: "/nonexistent", programs: "/nonexistent" });
    const [install = "", test = ""] = start("helm");
    await reader.run([kubeconfig, path, install].join("\n"));
    expect(await reader.run([kubeconfig, path, test].join("\n"))).toContain("Succeeded");
    expect(start("kubectl")).toHaveLength(1);
    reader.leave();
  } catch (error) {
    throw new Error(`npm run cluster said: ${said}`, { cause: error });
  } finally {
    child.kill("SIGINT");
  }
  expect(await closed).toEqual([0, null]);
});
