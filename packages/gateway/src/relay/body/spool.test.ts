import { once } from "node:events";
import { readdirSync, readlinkSync } from "node:fs";
import { buffer } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { createSpool, type Spool } from "./spool.ts";

const CHUNK = Buffer.alloc(300 * 1024, "x");
const FOLDER = "/proc/self/fd";

/** Returns the files of spools that this process holds open. */
function openFiles(): string[] {
  return readdirSync(FOLDER).flatMap((fd) => {
    try {
      const path = readlinkSync(`${FOLDER}/${fd}`);
      return /fairway-[\da-f-]{36}/.test(path) ? [path] : [];
    } catch {
      // This one belonged to the listing itself.
      return [];
    }
  });
}

let spool: Spool;
afterEach(() => spool.dispose());

describe("a spooled body", () => {
  it("reads back what was written, from any position", async () => {
    spool = createSpool();
    await spool.write(CHUNK);
    await spool.write(Buffer.from("the end"));
    expect(openFiles()).toHaveLength(1);
    expect(await buffer(spool.read(CHUNK.length - 1, spool.size))).toEqual(Buffer.from("xthe end"));
    expect(await buffer(spool.read(0, spool.size))).toHaveLength(CHUNK.length + 7);
  });

  it("is read whole after a reader that stopped early", async () => {
    spool = createSpool();
    await spool.write(CHUNK);
    for await (const first of spool.read(0, spool.size)) {
      expect(first).toHaveLength(64 * 1024);
      break;
    }
    expect(await buffer(spool.read(0, spool.size))).toEqual(CHUNK);
  });

  it("stays in memory while it is small", async () => {
    spool = createSpool();
    await spool.write(Buffer.from("small"));
    expect(openFiles()).toEqual([]);
    expect(await buffer(spool.read(1, 4))).toEqual(Buffer.from("mal"));
  });
});

// A destroyed reader may finish its last read after `dispose` resolved: Node closes the file after that.
describe("dispose closes the file", () => {
  it("while it is being opened", async () => {
    spool = createSpool();
    const written = spool.write(CHUNK);
    await spool.dispose();
    await written;
    await expect.poll(openFiles).toEqual([]);
  });

  it("while a reader is in the middle of it", async () => {
    spool = createSpool();
    await spool.write(CHUNK);
    const reader = spool.read(0, spool.size);
    await once(reader, "readable");
    expect(openFiles()).toHaveLength(1);
    await spool.dispose();
    await expect.poll(openFiles).toEqual([]);
    expect(reader.destroyed).toBe(true);
  });

  it("after a reader was destroyed, and when called twice", async () => {
    spool = createSpool();
    await spool.write(CHUNK);
    const reader = spool.read(0, spool.size);
    await once(reader, "readable");
    reader.destroy();
    await spool.dispose();
    await spool.dispose();
    await expect.poll(openFiles).toEqual([]);
  });
});
