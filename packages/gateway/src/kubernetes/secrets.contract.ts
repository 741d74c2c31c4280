import { describe, expect, test } from "vitest";
import { base64, isThere, never, POLL, useController, type ContractCluster } from "./controller-kit.contract.ts";
import { secretsPath } from "./resources.ts";
import { READABLE_LABEL } from "./secret-access.ts";

/**
 * The contract for reading and writing Secrets, for any server of the Kubernetes API. `hasRules` is true if the server
 * checks the rules of the custom resources, so that some of them are refused before the controller reads them.
 */
export function secretsContract(name: string, open: () => Promise<ContractCluster>, hasRules: boolean): void {
  describe(`Secrets of custom resources with ${name}`, () => {
    const kit = useController(open);
    const { place, put, channel, secret, condition, untilCondition, readChannelKey, events, start } = kit;
    const buildSecretPath = (one: string) => `${secretsPath(kit.namespace)}/${one}`;
    const label = (one: string, value: string | null) =>
      kit.api.patch(buildSecretPath(one), { metadata: { labels: { [READABLE_LABEL]: value } } }, never);
    const usingSecret = (one: string) => ({ credentialsFrom: { secretKeyRef: { name: one, key: "key" } } });

    test("keeps a new channel off until its Secret exists, and follows a rotated one", async () => {
      await channel("main", { credentialsFrom: { secretKeyRef: { name: "late", key: "key" } } });
      await start();
      await untilCondition("Channel", "main", { status: "False", reason: "SecretNotFound" }, "SecretsResolved");
      await untilCondition("Channel", "main", { status: "False", reason: "SecretNotFound" }, "Ready");
      await secret("late", { other: "sk" });
      await untilCondition("Channel", "main", { status: "False", reason: "KeyNotFound" }, "SecretsResolved");
      await kit.api.patch(`${secretsPath(kit.namespace)}/late`, { data: base64({ key: "sk-one" }) }, never);
      await untilCondition("Channel", "main", { status: "True" }, "Ready");
      expect(await readChannelKey("main")).toBe("sk-one");
      await kit.api.patch(`${secretsPath(kit.namespace)}/late`, { data: base64({ key: "sk-two" }) }, never);
      await expect.poll(() => readChannelKey("main"), POLL).toBe("sk-two");
      await expect.poll(() => events("SecretChanged"), POLL).not.toHaveLength(0);
      await kit.cluster.remove(`${secretsPath(kit.namespace)}/late`);
      await untilCondition("Channel", "main", { status: "False", reason: "SecretNotFound" }, "SecretsResolved");
      expect(await readChannelKey("main")).toBe("sk-two");
    });

    test("takes up a Secret that goes back to an earlier value, or is deleted and made again with it", async () => {
      const write = (value: string) =>
        kit.api.patch(buildSecretPath("openai"), { data: base64({ key: value }) }, never);
      await secret("openai", { key: "sk-c" });
      await channel("main", usingSecret("openai"));
      await start();
      for (const value of ["sk-c", "sk-d", "sk-c", "sk-d"]) {
        await write(value);
        await expect.poll(() => readChannelKey("main"), POLL).toBe(value);
      }
      await untilCondition("Channel", "main", { status: "True" }, "Ready");
      await kit.cluster.remove(buildSecretPath("openai"));
      await untilCondition("Channel", "main", { status: "False", reason: "SecretNotFound" }, "SecretsResolved");
      await secret("openai", { key: "sk-c" });
      await expect.poll(() => readChannelKey("main"), POLL).toBe("sk-c");
    });

    test("takes up an option whose Secret goes back to an earlier value", async () => {
      await secret("mail", { password: "one" });
      await put("OptionSet", "mail", {
        valuesFrom: [{ option: "SMTPToken", secretKeyRef: { name: "mail", key: "password" } }],
      });
      await start();
      for (const password of ["one", "two", "one"]) {
        await kit.api.patch(buildSecretPath("mail"), { data: base64({ password }) }, never);
        await expect.poll(() => kit.app.snapshots.current().options.SMTPToken, POLL).toBe(password);
      }
    });

    test("warns with an event that names the cause when a Secret or its key is missing", async () => {
      await channel("main", usingSecret("openai"));
      await start();
      const warnings = async () => JSON.stringify(await events("SecretMissing"));
      await expect.poll(warnings, POLL).toContain("here is no Secret openai");
      await secret("openai", { other: "sk" });
      await expect.poll(warnings, POLL).toContain("Secret openai has no key key");
      for (const event of await events("SecretMissing")) expect(event).toMatchObject({ type: "Warning" });
    });

    // @weakness Providers' keys: Who may create a Channel reads any Secret of the namespace through the gateway's role
    test("reads a Secret only while it has the label, and keeps the key that it had when the label goes", async () => {
      await secret("plain", { key: "sk-plain" }, {});
      await channel("main", usingSecret("plain"));
      await start();
      await untilCondition("Channel", "main", { status: "False", reason: "SecretNotFound" }, "SecretsResolved");
      expect((await condition("Channel", "main", "SecretsResolved"))?.message).toContain(
        'no Secret plain with the label fairway.dev/readable: "true"',
      );
      expect(await readChannelKey("main")).toBe("");
      await label("plain", "true");
      await untilCondition("Channel", "main", { status: "True" }, "Ready");
      expect(await readChannelKey("main")).toBe("sk-plain");
      await label("plain", null);
      await untilCondition("Channel", "main", { status: "False", reason: "SecretNotFound" }, "SecretsResolved");
      expect(await readChannelKey("main")).toBe("sk-plain");
    });

    // @weakness Providers' keys: A custom resource sends the gateway's own encryption key to an address of its author
    test("never reads a Secret of the installation, labelled, listed or stored by Helm", async () => {
      const own = ["fairway-secrets", "sh.helm.release.v1.fairway.v1"];
      for (const one of own) await secret(one, { key: "sk-own" });
      await channel("first", usingSecret("fairway-secrets"));
      await channel("second", usingSecret("sh.helm.release.v1.fairway.v1"));
      for (const secretNames of [[], own]) {
        await start({ secretNames });
        for (const one of ["first", "second"])
          await untilCondition("Channel", one, { status: "False", reason: "SecretForbidden" }, "SecretsResolved");
        expect((await condition("Channel", "first", "Ready"))?.message).toContain(
          "belongs to an installation of the gateway",
        );
        expect([await readChannelKey("first"), await readChannelKey("second")]).toEqual(["", ""]);
      }
    });

    test("reads no Secret that a list does not name, with or without the label", async () => {
      for (const one of ["listed", "other"]) await secret(one, { key: `sk-${one}` }, one === "other" ? undefined : {});
      for (const one of ["listed", "other"]) await channel(one, usingSecret(one));
      await start({ secretNames: ["listed"] });
      await untilCondition("Channel", "listed", { status: "True" }, "Ready");
      await untilCondition("Channel", "other", { status: "False", reason: "SecretForbidden" }, "SecretsResolved");
      expect((await condition("Channel", "other", "Ready"))?.message).toContain("gitops.secretNames does not name it");
      expect([await readChannelKey("listed"), await readChannelKey("other")]).toEqual(["sk-listed", ""]);
    });

    // @weakness Leaks: An option that everybody reads, such as Notice, takes its value from a Secret
    test("puts no Secret into an option that is shown, and applies the options that hold secrets", async () => {
      await secret("mail", { password: "canary-password" });
      const from = (option: string) => ({ option, secretKeyRef: { name: "mail", key: "password" } });
      const shown = () => put("OptionSet", "public", { values: { SystemName: "Ours" }, valuesFrom: [from("Notice")] });
      if (hasRules) await expect(shown()).rejects.toThrow("is not an option that holds a secret");
      else await shown();
      await put("OptionSet", "mail", { valuesFrom: [from("SMTPToken")] });
      await start();
      if (!hasRules) {
        await untilCondition("OptionSet", "public", { status: "False", reason: "Invalid" });
        expect((await condition("OptionSet", "public"))?.message).toContain("Notice is shown");
      }
      await untilCondition("OptionSet", "mail", { status: "True" }, "Ready");
      expect(kit.app.snapshots.current().options).toMatchObject({ Notice: "", SMTPToken: "canary-password" });
    });

    test("writes no key of a token into a Secret of the installation, also where there is none yet", async () => {
      const spec = { owner: { username: "ann" }, writeSecretTo: { name: "fairway-secrets", key: "encryption-key" } };
      await put("Token", "ci", spec);
      await start();
      await untilCondition("Token", "ci", { status: "False", reason: "SecretForbidden" }, "SecretWritten");
      expect(await isThere(kit.api, `${secretsPath(kit.namespace)}/fairway-secrets`)).toBe(false);
    });

    test("writes the key of a token into the Secret that it names, again when that is lost, and never into another", async () => {
      const stored = (one: string) => kit.api.get(`${secretsPath(kit.namespace)}/${one}`, never).catch(() => undefined);
      const text = async (one: string, key: string) => {
        const value = (await stored(one))?.data?.[key];
        return value === undefined ? undefined : Buffer.from(value, "base64").toString();
      };
      await secret("foreign", { other: "theirs" });
      await put("Token", "ci", { owner: { username: "ann" }, writeSecretTo: { name: "ci-key" } });
      await put("Token", "bad", { owner: { username: "ann" }, writeSecretTo: { name: "foreign" } });
      await start();
      await untilCondition("Token", "ci", { status: "True", reason: "Written" }, "SecretWritten");
      await untilCondition("Token", "ci", { status: "True" }, "Ready");
      const token = (await kit.app.database.db.selectFrom("tokens").selectAll().where("name", "=", "ci").execute())[0];
      const own = await kit.members.user.data<{ key: string }>(kit.members.user.get(`/api/token/${token?.id}`));
      expect(await text("ci-key", "api-key")).toBe(`sk-${own.key}`);
      const { metadata } = await kit.api.get(place("Token", "ci"), never);
      expect((await stored("ci-key"))?.metadata.ownerReferences).toMatchObject([
        { uid: metadata.uid, controller: true },
      ]);

      await untilCondition("Token", "bad", { status: "False", reason: "SecretForeign" }, "SecretWritten");
      await untilCondition("Token", "bad", { status: "False", reason: "SecretForeign" }, "Ready");
      expect((await stored("foreign"))?.data).toEqual(base64({ other: "theirs" }));

      await kit.cluster.remove(`${secretsPath(kit.namespace)}/ci-key`);
      await expect.poll(() => text("ci-key", "api-key"), POLL).toBe(`sk-${own.key}`);
      await kit.api.patch(`${secretsPath(kit.namespace)}/ci-key`, { data: base64({ "api-key": "sk-changed" }) }, never);
      await expect.poll(() => text("ci-key", "api-key"), POLL).toBe(`sk-${own.key}`);
      await kit.api.patch(place("Token", "ci"), { spec: { writeSecretTo: { name: "ci-key", key: "TOKEN" } } }, never);
      await expect.poll(() => text("ci-key", "TOKEN"), POLL).toBe(`sk-${own.key}`);
      expect(await text("ci-key", "api-key")).toBeUndefined();
    });
  });
}
