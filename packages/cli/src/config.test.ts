import { chmodSync, mkdtempSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readProfile, writeProfile } from "./config.ts";

const profile = { server: "https://ai.example.com", userId: 1, token: "t0ken" };
const fresh = () => ({ FAIRWAY_CONFIG: join(mkdtempSync(join(tmpdir(), "fairway-cli-")), "deep", "credentials.json") });

describe("profiles", () => {
  it("are written for their owner alone and read back", () => {
    const env = fresh();
    const path = writeProfile(env, profile);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readProfile(env)).toEqual(profile);
  });

  it("give way to the environment", () => {
    const env = fresh();
    writeProfile(env, profile);
    expect(readProfile({ ...env, FAIRWAY_SERVER: "http://127.0.0.1:3000/", FAIRWAY_TOKEN: "other" })).toEqual({
      server: "http://127.0.0.1:3000",
      userId: 1,
      token: "other",
    });
  });

  it("are refused when others can read them", () => {
    const env = fresh();
    chmodSync(writeProfile(env, profile), 0o644);
    expect(() => readProfile(env)).toThrow(/can be read by others \(mode 644\)/);
  });

  it("are refused when the file holds something else", () => {
    const env = fresh();
    const path = writeProfile(env, profile);
    writeFileSync(path, "{");
    expect(() => readProfile(env)).toThrow(/does not hold a profile/);
  });

  it("are absent before the first sign-in", () => {
    expect(readProfile(fresh())).toBeUndefined();
  });
});
