import { hashSync } from "bcryptjs";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { createHash } from "./hash-threads.ts";

test("the queue is bounded, and the event loop continues meanwhile", async () => {
  const hash = createHash(1, 3);
  const stored = hashSync("right", 4);
  const jobs = ["right", "wrong", "right", "late"].map((password) => hash({ kind: "bcrypt", password, stored }));
  const [first, second, third, late] = await Promise.allSettled(jobs);
  expect([first, second, third].map((one) => one?.status === "fulfilled" && one.value)).toEqual([true, false, true]);
  expect(late).toMatchObject({ status: "rejected", reason: { code: "G3", status: 429, retryAfterSeconds: 10 } });
  expect(await hash({ kind: "bcrypt", password: "right", stored })).toBe(true);
});

test("a password is hashed outside the event loop", async () => {
  const hash = createHash(1);
  const cost = { memoryKib: 65_536, passes: 6, lanes: 1 };
  const job = { kind: "argon2id", password: "p", salt: new Uint8Array(16), cost, tagLength: 32 } as const;
  await hash({ ...job, cost: { ...cost, memoryKib: 64, passes: 1 } });
  let turns = 0;
  const counting = setInterval(() => (turns += 1), 1);
  const tag = await hash(job);
  clearInterval(counting);
  expect(tag).toHaveLength(32);
  expect(turns).toBeGreaterThan(5);
});

test("a password is hashed where a thread may not know its number", async () => {
  const job = JSON.stringify({ kind: "bcrypt", password: "right", stored: hashSync("right", 4) });
  const script = `import("./hash-threads.ts").then(({ createHash }) => createHash(1)(${job})).then(console.log)`;
  const root = fileURLToPath(new URL("../../../../..", import.meta.url));
  const locked = ["--permission", "--allow-worker", `--allow-fs-read=${root}`];
  const cwd = fileURLToPath(new URL(".", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [...locked, "--eval", script], { cwd });
  expect(stdout.trim()).toBe("true");
});
