import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Secret } from "../../lib/secret.ts";
import { createVault, isSealed, keysFromFile, VaultError, type VaultKey } from "./secrets.ts";
import { channelKey, optionValue, tokenKey } from "./sealed-locations.ts";

const newKey = (id: string): VaultKey => ({ id, key: new Secret(randomBytes(32).toString("base64")) });

const PLACE = tokenKey(1);

describe("a vault", () => {
  const old = newKey("old");
  const now = newKey("new");
  const vault = createVault({ keys: [old] });
  const rotated = createVault({ keys: [now, old] });

  test("opens what it sealed, and seals differently each time", () => {
    for (const text of ["", "sk-abc", '{"type":"service_account"}\nline', "日本語 🔑"]) {
      const sealed = vault.seal(text, PLACE);
      expect(isSealed(sealed)).toBe(true);
      expect(sealed).toMatch(/^v2:old:/);
      expect(vault.seal(text, PLACE)).not.toBe(sealed);
      expect(vault.open(sealed, PLACE)).toBe(text);
    }
  });

  test("opens with older keys and says what to seal again", () => {
    const sealed = vault.seal("text", PLACE);
    expect(rotated.open(sealed, PLACE)).toBe("text");
    expect(rotated.needsReseal(sealed)).toBe(true);
    expect(rotated.needsReseal(rotated.seal("text", PLACE))).toBe(false);
    expect(rotated.activeKeyId).toBe("new");
  });

  test("names the key that is missing", () => {
    expect(() => vault.open(rotated.seal("text", PLACE), PLACE)).toThrow(
      "sealed with the key new, which is not among those given (old)",
    );
  });

  test("refuses a changed text, a foreign key of the same name and anything else", () => {
    const sealed = vault.seal("text", PLACE);
    const body = Buffer.from(sealed.slice("v2:old:".length), "base64");
    for (const at of [0, 13, body.length - 1]) {
      const changed = Buffer.from(body);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => vault.open(`v2:old:${changed.toString("base64")}`, PLACE)).toThrow(VaultError);
    }
    expect(() => createVault({ keys: [newKey("old")] }).open(sealed, PLACE)).toThrow("does not open with the key old");
    for (const text of ["", "plain", "v1:old:", "v2:old:AAAA"])
      expect(() => vault.open(text, PLACE)).toThrow(VaultError);
  });

  test.each([tokenKey(2), channelKey(1), optionValue("1")])(
    "refuses a text of another location than %s",
    (location) => {
      const sealed = vault.seal("text", PLACE);
      expect(() => vault.open(sealed, location)).toThrow("or for another row");
      // Removing the binding does not help an attacker.
      expect(() => vault.open(sealed.replace("v2:", "v1:"), PLACE)).toThrow(VaultError);
    },
  );

  test("takes no text that only begins like a sealed one for sealed", () => {
    for (const text of ["v1: we opened", "v2:a:", "v2: the key is: long"]) expect(isSealed(text)).toBe(false);
  });

  test("keeps its hashes over a rotation and differs from others", () => {
    expect(vault.hashKey("key")).toMatch(/^[0-9a-f]{64}$/);
    expect(rotated.hashKey("key")).toBe(vault.hashKey("key"));
    expect(createVault({ keys: [now] }).hashKey("key")).not.toBe(vault.hashKey("key"));
    expect(vault.hashKey("other")).not.toBe(vault.hashKey("key"));
  });

  test("needs a key", () => {
    expect(() => createVault({ keys: [] })).toThrow("no key");
  });
});

describe("the key file", () => {
  let folder: string;
  beforeAll(() => (folder = mkdtempSync(join(tmpdir(), "fairway-key-"))));
  afterAll(() => rmSync(folder, { recursive: true }));

  test("is made once, for the owner alone", () => {
    const first = keysFromFile(join(folder, "data"));
    const again = keysFromFile(join(folder, "data"));
    expect(first).toHaveLength(1);
    expect(again[0]?.key.reveal()).toBe(first[0]?.key.reveal());
    expect(again[0]?.id).toBe(first[0]?.id);
    expect(statSync(join(folder, "data", "encryption.key")).mode & 0o777).toBe(0o600);
  });

  test("may hold several keys and is refused when damaged", () => {
    const [one, two] = [randomBytes(32).toString("base64"), randomBytes(32).toString("base64")];
    writeFileSync(join(folder, "encryption.key"), `b:${one}\na:${two}\n\n`);
    expect(keysFromFile(folder).map((key) => key.id)).toEqual(["b", "a"]);
    writeFileSync(join(folder, "encryption.key"), "b:c2hvcnQ=\n");
    expect(() => keysFromFile(folder)).toThrow("is damaged");
    writeFileSync(join(folder, "encryption.key"), "\n");
    expect(() => keysFromFile(folder)).toThrow("is empty");
  });
});
