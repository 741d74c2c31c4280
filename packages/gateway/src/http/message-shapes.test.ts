import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const run = promisify(execFile);

/**
 * A server that answers two calls, with garbage collections before, between and after; reports how its messages are
 * laid out.
 */
const PROGRAM = `
import { createServer, get } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { settleMessageShapes } from "${new URL("message-shapes.ts", import.meta.url).href}";
if (process.argv.includes("settled")) settleMessageShapes();
const layouts = [];
const server = createServer((request, response) => {
  layouts.push(%HasFastProperties(request) && %HasFastProperties(response));
  response.end();
}).listen(0);
const ask = () => new Promise((resolve) => get({ port: server.address().port }, (answer) => answer.resume().once("end", resolve)));
for (const count of [3, 8, 3]) {
  for (let turn = 0; turn < 4; turn++) { gc(); await pause(20); }
  for (let asked = 0; asked < count; asked++) await ask();
}
server.close();
console.log(JSON.stringify(layouts));
`;

async function layouts(...args: string[]): Promise<boolean[]> {
  const flags = ["--expose-gc", "--allow-natives-syntax", "--no-warnings", "--input-type=module"];
  const { stdout } = await run(process.execPath, [...flags, "--eval", PROGRAM, ...args]);
  return JSON.parse(stdout) as boolean[];
}

describe("requests and responses", () => {
  it("are hash tables after an early collection, unless their shape was settled", async () => {
    expect((await layouts()).slice(-3)).toEqual([false, false, false]);
  });

  it("keep their properties where code expects them once their shape was settled", async () => {
    expect(await layouts("settled")).toEqual(Array.from({ length: 14 }, () => true));
  });
});
