import { eachDatabase } from "@fairway/testkit/databases";
import { createCipheriv, hkdfSync, randomBytes } from "node:crypto";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Secret } from "../../lib/secret.ts";
import { createLog } from "../../observability/log.ts";
import { openDatabase, type Database } from "../database.ts";
import { migrate } from "../schema/migrate.ts";
import { reseal, SEALED_COLUMNS, verifyVault } from "./reseal.ts";
import { createVault, type Vault, type VaultKey } from "./secrets.ts";
import { optionValue, secondFactor, tokenKey } from "./sealed-locations.ts";
import { encryptionKeys } from "../../config/encryption-keys.ts";

const log = createLog({ level: "off", format: "text", out: new PassThrough() });
const newKey = (id: string): VaultKey => ({ id, key: new Secret(randomBytes(32).toString("base64")) });
const old = newKey("old");
const now = newKey("new");
const TOKENS = 450;

eachDatabase("sealed texts", (open) => {
  const before = createVault({ keys: [old] });
  const after = createVault({ keys: [now, old] });
  let database: Database;

  beforeEach(async () => {
    database = openDatabase({ url: await open(), log });
    await migrate(database, { log, mode: "auto" });
    await fill(database, before);
  });
  afterEach(() => database.close());

  test("are all sealed with the new key, and stay what they are", async () => {
    expect(await reseal(database, after)).toBe(TOKENS + 2);
    const tokens = await database.db.selectFrom("tokens").select(["id", "name", "key_sealed"]).orderBy("id").execute();
    expect(tokens.every((token) => !after.needsReseal(token.key_sealed))).toBe(true);
    expect(tokens.map((token) => after.open(token.key_sealed, tokenKey(token.id)))).toEqual(
      tokens.map((token) => token.name),
    );
    const options = await database.db.selectFrom("options").selectAll().orderBy("key").execute();
    expect(options[0]).toEqual({ key: "Notice", value: "plain" });
    expect(after.open(options[1]?.value ?? "", optionValue("SMTPToken"))).toBe("smtp");
    const user = await database.db.selectFrom("users").select(["id", "totp_secret"]).executeTakeFirstOrThrow();
    expect(after.open(user.totp_secret ?? "", secondFactor(user.id))).toBe("totp");
    expect(await reseal(database, after)).toBe(0);
  });

  // @weakness Credentials: A sealed key copied into another row or column opens there
  test("are known, wherever a column holds them", async () => {
    const tables = await database.db.introspection.getTables();
    const columns = tables
      .flatMap(({ name, columns: own }) => own.map((column) => `${name}.${column.name}`))
      .filter((name) => name.endsWith("_sealed"));
    expect(columns.length).toBeGreaterThan(3);
    expect(columns.filter((name) => !SEALED_COLUMNS.includes(name))).toEqual([]);
  });

  test("of another row do not open", async () => {
    await database.raw.run('update tokens set key_sealed = (select value from options where "key" = ?) where id = ?', [
      "SMTPToken",
      TOKENS,
    ]);
    await expect(verifyVault(database, before)).rejects.toThrow("or for another row");
  });

  test("of earlier versions open, and are bound to their rows", async () => {
    await database.raw.run("update tokens set key_sealed = ? where id = 7", [sealUnbound("key 6", old)]);
    const sealed = async () =>
      (await database.db.selectFrom("tokens").select("key_sealed").where("id", "=", 7).executeTakeFirstOrThrow())
        .key_sealed;
    expect(before.open(await sealed(), tokenKey(7))).toBe("key 6");
    expect(await reseal(database, before)).toBe(1);
    expect(before.open(await sealed(), tokenKey(7))).toBe("key 6");
    const bound = await sealed();
    expect(() => before.open(bound, tokenKey(8))).toThrow("or for another row");
  });

  // @weakness Credentials: A stolen database reveals a short passphrase to fast guesses
  test("of a fast passphrase open with the slow one, which seals and finds from then on", async () => {
    const [slow, fast] = encryptionKeys("correct horse battery staple") as [VaultKey, VaultKey];
    const earlier = createVault({ keys: [{ id: fast.id, key: fast.key }] });
    await database.raw.run("update tokens set key_sealed = ?, key_hash = ? where id = ?", [
      sealUnbound("newest", fast),
      earlier.hashKey("newest"),
      TOKENS,
    ]);
    const vault = createVault({ keys: [slow, fast, old] });
    const fresh = createVault({ keys: [slow, fast] });
    expect(fresh.hashKey("newest")).not.toBe(earlier.hashKey("newest"));
    await database.raw.run("delete from options", []);
    await database.raw.run("update users set totp_secret = null", []);
    await verifyVault(database, fresh);
    expect(fresh.hashKey("newest")).toBe(earlier.hashKey("newest"));
    expect(await reseal(database, vault)).toBe(TOKENS);
    const token = database.db.selectFrom("tokens").select("key_sealed").where("id", "=", TOKENS);
    expect(fresh.open((await token.executeTakeFirstOrThrow()).key_sealed, tokenKey(TOKENS))).toBe("newest");
  });

  test("are checked against the keys at the start", async () => {
    await expect(verifyVault(database, before)).resolves.toBeUndefined();
    await expect(verifyVault(database, after)).resolves.toBeUndefined();
    await expect(verifyVault(database, createVault({ keys: [now] }))).rejects.toThrow("sealed with the key old");
    await expect(verifyVault(database, createVault({ keys: [old, now] }))).rejects.toThrow(
      "put the first key back at the end",
    );
  });
});

/** Seals like versions before 2, bound to the key alone. */
function sealUnbound(text: string, { id, key }: VaultKey): string {
  const bytes = hkdfSync("sha256", Buffer.from(key.reveal(), "base64"), "", "fairway sealing", 32);
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", Buffer.from(bytes), nonce).setAAD(Buffer.from(id));
  const content = Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
  return `v1:${id}:${content.toString("base64")}`;
}

async function fill(database: Database, vault: Vault): Promise<void> {
  const names = Array.from({ length: TOKENS }, (_, at) => `key ${at}`);
  const common = { user_id: 1, status: 1, created_time: 0, accessed_time: 0, expired_time: -1, remain_quota: 0 };
  const flags = {
    unlimited_quota: 1,
    model_limits_enabled: 0,
    model_limits: "",
    allow_ips: "",
    group: "",
    deleted_at: null,
  };
  await database.db
    .insertInto("tokens")
    .values(
      names.map((name, at) => ({
        ...common,
        ...flags,
        id: at + 1,
        name,
        key_hash: vault.hashKey(name),
        key_sealed: vault.seal(name, tokenKey(at + 1)),
      })),
    )
    .execute();
  await database.db
    .insertInto("options")
    .values([
      { key: "Notice", value: "plain" },
      { key: "SMTPToken", value: vault.seal("smtp", optionValue("SMTPToken")) },
    ])
    .execute();
  await database.db
    .insertInto("users")
    .values({
      id: 1,
      username: "ann",
      username_key: "ann",
      password: "",
      display_name: "",
      role: 1,
      status: 1,
      quota: 0,
      group: "default",
      aff_code: "a",
      totp_secret: vault.seal("totp", secondFactor(1)),
      created_at: 0,
    })
    .execute();
}
