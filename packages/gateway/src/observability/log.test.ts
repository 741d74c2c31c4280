import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { createLog } from "./log.ts";

const AT = Date.parse("2026-01-02T03:04:05.678Z");

function collectLines(write: (log: ReturnType<typeof createLog>) => void): Record<string, unknown>[] {
  let text = "";
  const out = new Writable({ write: (chunk: Buffer, _encoding, done) => ((text += chunk.toString()), done()) });
  const log = createLog({ level: "info", format: "json", out, clock: { now: () => AT } });
  write(log);
  log.flush();
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

it("a line of text stays one line, and holds nothing that steers a terminal", () => {
  let text = "";
  const out = new Writable({ write: (chunk: Buffer, _encoding, done) => ((text += chunk.toString()), done()) });
  const log = createLog({ level: "info", format: "text", out, clock: { now: () => AT } });
  log.warn("relay", { model: "m\n03:04:05.678 ERROR forged \u001b[2J\u009b1m" });
  expect(text).toBe("03:04:05.678 WARN  relay model=m\\u000a03:04:05.678 ERROR forged \\u001b[2J\\u009b1m\n");
});

describe("log lines in JSON", () => {
  it("hold plain fields and those that are bound, and leave out what is undefined", () => {
    const lines = collectLines((log) =>
      log.with({ user: 1 }).info("relay", { channels: [1, 2], code: undefined, ok: true }),
    );
    const head = { time: "2026-01-02T03:04:05.678Z", level: "info", message: "relay" };
    expect(lines).toEqual([{ ...head, user: 1, channels: [1, 2], ok: true }]);
  });

  it("keep what a field says about the line itself, and escape texts, bound or not", () => {
    const fields = { level: "own", message: 'a "text"', user: "b\n" };
    const lines = collectLines((log) => {
      log.info("relay", fields);
      log.with({ part: "p" }).info('a "message"', { user: "b\n", code: undefined });
      log.info('a "message"', { user: "b\n", code: undefined });
      log.info("relay", {});
      log.info("relay", { code: undefined });
      log.info("relay");
    });
    const head = { time: "2026-01-02T03:04:05.678Z", level: "info", message: 'a "message"' };
    const bare = { ...head, message: "relay" };
    expect(lines).toEqual([
      { ...head, ...fields },
      { ...head, part: "p", user: "b\n" },
      { ...head, user: "b\n" },
      bare,
      bare,
      bare,
    ]);
  });

  it("carry errors with their causes, and large numbers, wherever they stand", () => {
    const error = Object.assign(new Error("outer", { cause: new Error("inner") }), { code: "ECONNREFUSED" });
    const [line] = collectLines((log) => log.error("failed", { error, many: [new Error("one")], row: { id: 5n } }));
    expect(line).toMatchObject({
      error: { name: "Error", message: "outer", code: "ECONNREFUSED", cause: { message: "inner" } },
      many: [{ message: "one" }],
      row: { id: "5" },
    });
  });
});
