import { eachDatabase } from "@fairway/testkit/databases";
import { randomBytes } from "node:crypto";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Secret } from "../../lib/secret.ts";
import { createLog } from "../../observability/log.ts";
import { openDatabase, type Database } from "../database.ts";
import { migrate } from "../schema/migrate.ts";
import { reseal, verifyVault } from "./reseal.ts";
import { createVault, type Vault, type VaultKey } from "./secrets.ts";

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
    const tokens = await database.db.selectFrom("tokens").select(["name", "key_sealed"]).orderBy("id").execute();
    expect(tokens.every((token) => !after.needsReseal(token.key_sealed))).toBe(true);
    expect(tokens.map((token) => after.open(token.key_sealed))).toEqual(tokens.map((token) => token.name));
    const options = await database.db.selectFrom("options").selectAll().orderBy("key").execute();
    expect(options[0]).toEqual({ key: "Notice", value: "plain" });
    expect(after.open(options[1]?.value ?? "")).toBe("smtp");
    const user = await database.db.selectFrom("users").select("totp_secret").executeTakeFirstOrThrow();
    expect(after.open(user.totp_secret ?? "")).toBe("totp");
    expect(await reseal(database, after)).toBe(0);
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
      names.map((name) => ({ ...common, ...flags, name, key_hash: vault.hashKey(name), key_sealed: vault.seal(name) })),
    )
    .execute();
  await database.db
    .insertInto("options")
    .values([
      { key: "Notice", value: "plain" },
      { key: "SMTPToken", value: vault.seal("smtp") },
    ])
    .execute();
  await database.db
    .insertInto("users")
    .values({
      username: "ann",
      username_key: "ann",
      password: "",
      display_name: "",
      role: 1,
      status: 1,
      quota: 0,
      group: "default",
      aff_code: "a",
      totp_secret: vault.seal("totp"),
      created_at: 0,
    })
    .execute();
}
