import { hashSync } from "bcryptjs";
import { describe, expect, it } from "vitest";
import { createPasswords } from "./passwords.ts";

const passwords = createPasswords();

describe("passwords", () => {
  it("match their own hash and no other", async () => {
    const stored = await passwords.hash("correct horse");
    expect(stored).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await passwords.verify(stored, "correct horse")).toEqual({ isMatch: true, needsRehash: false });
    expect(await passwords.verify(stored, "wrong")).toEqual({ isMatch: false, needsRehash: false });
  });

  it("are salted", async () => {
    expect(await passwords.hash("same")).not.toBe(await passwords.hash("same"));
  });

  it("compare the same whichever way an accent was typed", async () => {
    const stored = await passwords.hash("caf\u00e9 caf\u00e9");
    expect((await passwords.verify(stored, "cafe\u0301 cafe\u0301")).isMatch).toBe(true);
  });

  it("of imported accounts are read and want a new hash", async () => {
    const stored = hashSync("imported1", 4);
    expect(await passwords.verify(stored, "imported1")).toEqual({ isMatch: true, needsRehash: true });
    expect(await passwords.verify(stored, "imported2")).toEqual({ isMatch: false, needsRehash: false });
    const cut = hashSync("x".repeat(72), 4);
    expect((await passwords.verify(cut, "x".repeat(73))).isMatch).toBe(false);
  });

  it("of unknown users are checked again after the queue was full once", async () => {
    const cheap = createPasswords({ memoryKib: 64, passes: 1, lanes: 1 });
    const unorderedSet = Array.from({ length: 1_300 }, () => cheap.hash("password"));
    const late = cheap.verify(undefined, "guess");
    await expect(late).rejects.toMatchObject({ code: "G3" });
    await Promise.allSettled(unorderedSet);
    expect(await cheap.verify(undefined, "guess")).toEqual({ isMatch: false, needsRehash: false });
  });

  it("want a new hash when the cost has changed", async () => {
    const cheap = createPasswords({ memoryKib: 64, passes: 1, lanes: 1 });
    const stored = await cheap.hash("password");
    expect(await passwords.verify(stored, "password")).toEqual({ isMatch: true, needsRehash: true });
  });

  it.each(["", "plain", "$scrypt$x", "$argon2id$v=19$m=1,t=1,p=1$"])(
    "never match the stored text %j",
    async (stored) => {
      expect((await passwords.verify(stored, stored)).isMatch).toBe(false);
    },
  );

  // @weakness Credentials: A missing account answers faster than a wrong password
  it("take as long for a missing account as for a wrong password", async () => {
    const stored = await passwords.hash("right password");
    await passwords.verify(undefined, "warm up");
    const timed = async (target: string | undefined) => {
      const start = performance.now();
      for (let i = 0; i < 5; i++) await passwords.verify(target, "wrong password");
      return performance.now() - start;
    };
    const known = await timed(stored);
    const unknown = await timed(undefined);
    expect(unknown).toBeGreaterThan(known / 4);
    expect(unknown).toBeLessThan(known * 4);
  });
});
