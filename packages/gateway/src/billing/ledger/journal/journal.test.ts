import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openJournal, type Journal } from "./journal.ts";
import { takeFolder } from "./folder.ts";
import { testClock } from "../test-harness.contract.ts";
import { linesLog } from "../redis/test-harness.contract.ts";

let dir: string;
const clock = testClock();
const log = linesLog([]);
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "fairway-journal-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const open = (part: object = {}) => openJournal({ dir, clock, log, ...part });
const text = (id: number) => JSON.stringify({ id, note: "two\nlines" });
const files = (folder = "0") => readdirSync(join(dir, folder)).filter((file) => /^\d/.test(file));
const listRecent = (journal: Journal) => [...journal.recent()].flat();
/** Simulates a dead process, whose lock the next one finds. */
const die = (folder = "0") => writeFileSync(join(dir, folder, "lock"), "999999999 1");

describe("the journal", () => {
  it("writes all entries of one event loop turn in order before it resolves", async () => {
    const journal = open();
    await Promise.all([1, 2, 3].map((id) => journal.append(text(id))));
    expect(readFileSync(join(dir, "0", files()[0] ?? ""), "utf8")).toBe(
      [1, 2, 3].map((id) => `${text(id)}\n`).join(""),
    );
    expect(listRecent(journal)).toEqual([1, 2, 3].map(text));
    journal.close();
  });

  it("returns the entries of a dead process until they are acknowledged", async () => {
    const first = open();
    await first.append(text(1));
    await first.append(text(2));
    die();
    const second = open();
    expect(second.unacknowledged().map((entry) => entry.text)).toEqual([text(1), text(2)]);
    die();
    const third = open();
    for (const entry of third.unacknowledged()) third.acknowledge(entry, { shard: 1, id: "5-0" });
    third.close();
    const fourth = open();
    expect(fourth.unacknowledged()).toEqual([]);
    expect(listRecent(fourth)).toEqual([text(1), text(2)]);
    fourth.close();
  });

  it("takes over folders of dead processes, but not of running ones", async () => {
    const [first, second] = [open(), open()];
    expect(readdirSync(dir).sort()).toEqual(["0", "1"]);
    await second.append(text(7));
    await first.append(text(8));
    die("1");
    const third = openJournal({ dir, clock, log });
    expect(third.unacknowledged().map((entry) => entry.text)).toEqual([text(7)]);
    first.close();
    third.close();
  });

  it("ignores a line that a crash truncated", async () => {
    const first = open();
    await first.append(text(1));
    appendFileSync(join(dir, "0", files()[0] ?? ""), '{"id":2,"no');
    die();
    expect(
      open()
        .unacknowledged()
        .map((entry) => entry.text),
    ).toEqual([text(1)]);
  });

  it("starts a new file when the current one is full or old, and removes old booked files", async () => {
    const journal = open({ segmentBytes: 50, segmentMs: 1_000, retentionMs: 5_000 });
    const first = await journal.append(text(1));
    const second = await journal.append("x".repeat(60));
    const third = await journal.append(text(3));
    expect(files()).toHaveLength(2);
    journal.acknowledge(first, { shard: 3, id: "10-0" });
    clock.advance(6_000);
    expect([...journal.prunable()]).toEqual([]);
    journal.acknowledge(second, { shard: 4, id: "11-0" });
    expect([...journal.prunable()].sort((a, b) => a - b)).toEqual([3, 4]);
    journal.prune(({ shard }) => shard === 3, { mayRemove: true });
    expect(listRecent(journal)).toContain(text(1));
    journal.prune(() => true, { mayRemove: true });
    expect(listRecent(journal)).toEqual([text(3)]);
    journal.acknowledge(third, undefined);
    journal.close();
  });

  it("limits the size of acknowledged entries and retains all others", async () => {
    const journal = open({ segmentBytes: 20, maxBytes: 100 });
    const entries = [];
    for (let id = 0; id < 10; id += 1) entries.push(await journal.append(text(id)));
    journal.prune(() => false, { mayRemove: true });
    expect(listRecent(journal)).toHaveLength(10);
    for (const entry of entries.slice(0, 8)) journal.acknowledge(entry, undefined);
    journal.prune(() => false, { mayRemove: true });
    expect(journal.bytes).toBeLessThanOrEqual(100);
    expect(listRecent(journal)).toEqual(expect.arrayContaining([text(8), text(9)]));
    journal.close();
  });

  it("retains files of earlier processes until they may be removed", async () => {
    const first = open();
    first.acknowledge(await first.append(text(1)), { shard: 1, id: "5-0" });
    first.close();
    const second = open({ retentionMs: 5_000, maxBytes: 1 });
    expect([...second.found()].flat()).toEqual([text(1)]);
    clock.advance(60_000_000);
    second.prune(() => true, { mayRemove: false });
    expect([...second.found()].flat()).toEqual([text(1)]);
    second.prune(() => true, { mayRemove: true });
    expect([...second.found()].flat()).toEqual([]);
    second.close();
  });

  it("rejects appends while the disk fails, and works again afterwards", async () => {
    const journal = open({ segmentBytes: 1 });
    await journal.append(text(1));
    rmSync(join(dir, "0"), { recursive: true });
    await expect(journal.append(text(2))).rejects.toThrow("ENOENT");
    takeFolder(dir).release();
    expect(existsSync(join(dir, "0"))).toBe(true);
    await journal.append(text(3));
    expect(files()).toHaveLength(1);
  });

  it("names the folder that it cannot use", () => {
    writeFileSync(join(dir, "file"), "");
    expect(() => openJournal({ dir: join(dir, "file"), clock, log })).toThrow(/EEXIST|ENOTDIR/);
  });
});
