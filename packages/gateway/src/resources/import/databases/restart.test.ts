// After an import, the gateway starts and finds the imported keys.
import { createHash } from "node:crypto";
import { createDatabase, eachDatabase } from "@fairway/testkit/databases";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DIRECT } from "../../../lib/net/network.ts";
import { LITELLM, NEW_API, SourceDatabase } from "../../../../test/import/source-database.ts";
import { token, user } from "../../../../test/import/rows.ts";
import { openStoreKit, type StoreKit } from "../../../../test/kit/store-kit.ts";
import { quietLog } from "../../../../test/kit/support.ts";
import { readApiKey, readKeyText } from "../../../identity/keys/api-key.ts";
import { GroupNames } from "../groups.ts";
import { ImportReport } from "../report.ts";
import { openForeign } from "../../../storage/foreign.ts";
import { reseal, verifyVault } from "../../../storage/secrets/reseal.ts";
import { createVault } from "../../../storage/secrets/secrets.ts";
import { importedKey } from "../../../storage/secrets/token-key-forms.ts";
import { Secret } from "../../../lib/secret.ts";
import { importDatabase } from "./litellm/database.ts";
import { importCompatible } from "./new-api/import.ts";

/** Characters that are allowed in a header and fit into a column of 48 letters. */
const KEY = fc.oneof(
  fc.stringMatching(/^[0-9A-Za-z]{48}$/),
  fc.stringMatching(/^[!-~]{1,40}$/).filter((key) => !key.startsWith("sk-")),
  fc.constantFrom("team-key-1", "a", "x".repeat(47), "sha256:abc", "..."),
);

eachDatabase("a gateway after an import", (open) => {
  let kit: StoreKit;
  beforeAll(async () => {
    kit = await openStoreKit(await open());
  });
  afterAll(() => kit.database.close());

  const createSource = async () => new SourceDatabase(await createDatabase(open.kind), open.kind);
  const target = () => {
    return { ...kit, target: kit.database, isDry: false, groups: new GroupNames(), onProgress: () => {} };
  };
  const isFound = async (written: string) => {
    const headers = { authorization: `Bearer ${written}` };
    const own = readApiKey(headers, "/v1/models");
    const texts = [...(typeof own === "object" ? [own.key] : []), importedKey(readKeyText(headers, "/v1/models"))];
    const hashes = texts.map((text) => kit.vault.hashKey(text));
    return (await kit.database.db.selectFrom("tokens").select("id").where("key_hash", "in", hashes).execute()).length;
  };

  // @weakness Credentials: A key of another form that an import brought keeps the gateway from starting ever again
  test("starts with any keys of a compatible gateway, and finds them", async () => {
    const keys = [...new Set(fc.sample(KEY, { numRuns: 40, seed: 27 }))];
    const sourceDatabase = await createSource();
    await sourceDatabase.create(NEW_API);
    await sourceDatabase.insert("users", user(1, "root", { role: 100 }), user(2, "eve"));
    await sourceDatabase.insert("tokens", ...keys.map((key, at) => token(at + 1, 2, { key })));
    const source = openForeign(sourceDatabase.url, quietLog);
    const logs = { logTarget: kit.database, logSource: source, withLogs: false, origin: "here" };
    const prices = { areChannelsAsked: false, former: undefined, network: DIRECT };
    await importCompatible({ ...target(), ...logs, prices, kind: "new-api", source });
    await source.close();
    for (const key of keys) expect([key, await isFound(`sk-${key}`)]).toEqual([key, 1]);
    // Each key is the newest one once, because the start checks the newest.
    const { db } = kit.database;
    for (const { id } of await db.selectFrom("tokens").select("id").orderBy("id", "desc").execute()) {
      await verifyVault(kit.database, kit.vault);
      await db.deleteFrom("tokens").where("id", "=", id).execute();
    }
  });

  test("starts with keys of LiteLLM that are known by their ends alone, and still tells a wrong encryption key", async () => {
    await kit.database.db.deleteFrom("tokens").execute();
    const litellm = await createSource();
    await litellm.create(LITELLM);
    const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
    const key = { aliases: "{}", models: [] as string[], created_at: "2025-10-01 10:00:00" };
    await litellm.insert(
      "LiteLLM_VerificationToken",
      { ...key, token: "sk-in-the-clear", key_name: "sk-...lear" },
      { ...key, token: sha256("sk-one"), key_name: "sk-...-one" },
      { ...key, token: sha256("sk-two"), key_name: "laptop of ann" },
    );
    const source = openForeign(litellm.url, quietLog);
    await importDatabase({ ...target(), source, credit: 100, report: new ImportReport() });
    await source.close();
    for (const written of ["sk-in-the-clear", "sk-one", "sk-two"]) expect(await isFound(written)).toBe(1);
    await verifyVault(kit.database, kit.vault);
    expect(await reseal(kit.database, kit.vault)).toBe(0);
    const other = createVault({ keys: [{ id: "k2", key: new Secret(Buffer.alloc(32).toString("base64")) }] });
    const swapped = { ...kit.vault, hashKey: other.hashKey, matchesHash: other.matchesHash };
    await expect(verifyVault(kit.database, swapped)).rejects.toThrow("put the first key back at the end");
  });
});
