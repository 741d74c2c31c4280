import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DECLARATIVE_VERSION } from "@fairway/wire";
import { describe, expect, test } from "vitest";
import { isThere, never, POLL, useController, type ContractCluster } from "./controller-kit.contract.ts";
import { ANNOTATION, listPath, secretsPath } from "./resources.ts";

const PAGE = join(import.meta.dirname, "../../../../docs/operate/gitops.md");

/** Returns the first column of the table of rights on the page for operators. */
function readTable(): string[] {
  const [, section = ""] = readFileSync(PAGE, "utf8").split("## What the gateway does for whom");
  const lines = (section.split("\n## ")[0] ?? "").split("\n").filter((line) => line.startsWith("| "));
  return lines.slice(2).map((line) => (line.split("|")[1] ?? "").trim());
}

/** What authors of resources reach through the gateway: one test for each line of the table for operators. */
export function rightsContract(name: string, open: () => Promise<ContractCluster>): void {
  describe(`what authors of resources reach with ${name}`, () => {
    const kit = useController(open);
    const { put, channel, secret, condition, untilCondition, readChannelKey, rows, annotate, place, start } = kit;
    const tested: string[] = [];
    const line = (words: string, run: () => Promise<void>) => {
      tested.push(words);
      test(`${words}`, run);
    };
    const isWritten = (one: string) => isThere(kit.api, `${secretsPath(kit.namespace)}/${one}`);
    const tokensOf = async (username: string) => {
      const query = kit.app.database.db.selectFrom("tokens as t").innerJoin("users as u", "u.id", "t.user_id");
      const living = query.where("u.username", "=", username).where("t.deleted_at", "is", null);
      return (await living.select("t.name").execute()).map((row) => row.name);
    };

    line("a key of a user whom `gitops.tokenOwners` names for the namespace", async () => {
      await put("Token", "ci", { owner: { username: "Ann" }, writeSecretTo: { name: "ci-key" } });
      await start();
      await untilCondition("Token", "ci", { status: "True", reason: "Written" }, "SecretWritten");
      expect(await isWritten("ci-key")).toBe(true);
    });

    // @weakness Providers' keys: Who may create a Token resource obtains a key of the super administrator
    line("a key of any other user", async () => {
      await put("Token", "mine", { owner: { username: "root" }, writeSecretTo: { name: "root-key" } });
      await start();
      await untilCondition("Token", "mine", { status: "False", reason: "Forbidden" });
      await untilCondition("Token", "mine", { status: "False", reason: "Forbidden" }, "Accepted");
      await untilCondition("Token", "mine", { status: "False", reason: "Forbidden" }, "Ready");
      expect((await condition("Token", "mine"))?.message).toContain(`gitops.tokenOwners.${kit.namespace}`);
      await expect.poll(() => kit.events("NotApplied"), POLL).toMatchObject([{ type: "Warning" }]);
      expect([await isWritten("root-key"), await tokensOf("root")]).toEqual([false, []]);
      await start({ tokenOwners: { elsewhere: ["root"], [kit.namespace]: [] } });
      await untilCondition("Token", "mine", { status: "False", reason: "Forbidden" });
      await start({ tokenOwners: { [kit.namespace]: ["*"] } });
      await untilCondition("Token", "mine", { status: "True", reason: "Written" }, "SecretWritten");
    });

    const startTeam = async (slug: string) => {
      const { root } = kit.members;
      await root.post("/api/team/", { name: slug, slug });
      const query = kit.app.database.db.selectFrom("teams").select("account_id").where("slug", "=", slug);
      return (await query.executeTakeFirstOrThrow()).account_id;
    };

    line("a key of a team that `gitops.tokenOwners` names as `team:SLUG`", async () => {
      const wallet = await startTeam("research");
      await put("Token", "lab", { owner: { team: "research" }, writeSecretTo: { name: "lab-key" } });
      await start({ tokenOwners: { [kit.namespace]: ["team:research"] } });
      await untilCondition("Token", "lab", { status: "True", reason: "Written" }, "SecretWritten");
      expect(await isWritten("lab-key")).toBe(true);
      const made = kit.app.database.db.selectFrom("tokens").select(["name", "user_id", "member_id"]);
      expect(await made.execute()).toEqual([{ name: "lab", user_id: wallet, member_id: 0 }]);
    });

    line("a key of any other team", async () => {
      await startTeam("research");
      await startTeam("other");
      await put("Token", "lab", { owner: { team: "other" }, writeSecretTo: { name: "lab-key" } });
      for (const names of [["team:research"], ["*"], ["other"]]) {
        await start({ tokenOwners: { [kit.namespace]: names } });
        await untilCondition("Token", "lab", { status: "False", reason: "Forbidden" });
      }
      expect((await condition("Token", "lab"))?.message).toContain("name team:other in gitops.tokenOwners");
      const made = await kit.app.database.db.selectFrom("tokens").select("id").execute();
      expect([await isWritten("lab-key"), made]).toEqual([false, []]);
      await start({ tokenOwners: { [kit.namespace]: ["team:*"] } });
      await untilCondition("Token", "lab", { status: "True", reason: "Written" }, "SecretWritten");
    });

    line("a token of any user, whose key only that user reads", async () => {
      await put("Token", "theirs", { owner: { username: "boss" } });
      await start();
      await untilCondition("Token", "theirs", { status: "True" }, "Ready");
      expect(await condition("Token", "theirs", "SecretWritten")).toBeUndefined();
      expect(await tokensOf("boss")).toEqual(["theirs"]);
    });

    line("the key of a token that another namespace describes", async () => {
      const other = await kit.cluster.namespace();
      const namespaces = [kit.namespace, other];
      const token = { apiVersion: DECLARATIVE_VERSION, kind: "Token", metadata: { name: "ci" } };
      await kit.api.create(listPath("Token", other), { ...token, spec: { owner: { username: "root" } } }, never);
      await start({ namespaces });
      await expect.poll(() => tokensOf("root"), POLL).toEqual(["ci"]);
      await put("Token", "ci", { owner: { username: "ann" }, writeSecretTo: { name: "ci-key" } });
      await untilCondition("Token", "ci", { status: "False", reason: "Conflict" });
      await annotate(place("Token", "ci"), ANNOTATION.adopt, "true");
      await expect.poll(async () => (await condition("Token", "ci"))?.message, POLL).toContain("keeps its owner");
      expect(await isWritten("ci-key")).toBe(false);
    });

    line("a Secret with the label `fairway.dev/readable`, or of `gitops.secretNames`", async () => {
      await secret("openai", { key: "sk-one" });
      const credentialsFrom = { secretKeyRef: { name: "openai", key: "key" } };
      await channel("main", { credentialsFrom, baseUrl: "https://example.com" });
      await start();
      await untilCondition("Channel", "main", { status: "True" });
      expect(await readChannelKey("main")).toBe("sk-one");
    });

    line("any other Secret, and those of an installation", async () => {
      await secret("plain", { key: "sk-one" }, {});
      await secret("fairway-secrets", { key: "sk-two" });
      for (const one of ["plain", "fairway-secrets"])
        await channel(one, { credentialsFrom: { secretKeyRef: { name: one, key: "key" } } });
      await start();
      for (const one of ["plain", "fairway-secrets"]) {
        await untilCondition("Channel", one, { status: "False" }, "SecretsResolved");
        expect(await readChannelKey(one)).toBe("");
      }
    });

    line("a Secret that the gateway did not write for the same resource", async () => {
      await secret("theirs", { other: "value" }, {});
      await put("Token", "ci", { owner: { username: "ann" }, writeSecretTo: { name: "theirs" } });
      await start();
      await untilCondition("Token", "ci", { status: "False", reason: "SecretForeign" }, "SecretWritten");
      expect((await kit.api.get(`${secretsPath(kit.namespace)}/theirs`, never)).data).not.toHaveProperty("api-key");
    });

    line("a channel that no document describes", async () => {
      const form = { type: 1, name: "main", models: "m", group: "default", key: "sk-hand" };
      await kit.members.root.data(kit.members.root.post("/api/channel/", form));
      await channel("main", { models: ["n"] });
      await start();
      await untilCondition("Channel", "main", { status: "True" });
      await kit.api.patch(place("Channel", "main"), { spec: { baseUrl: "https://elsewhere.example" } }, never);
      await untilCondition("Channel", "main", { status: "False", reason: "Invalid" });
      expect((await rows()).map(({ models, base_url }) => [models, base_url])).toEqual([["n", ""]]);
      expect(await readChannelKey("main")).toBe("sk-hand");
    });

    line("an object that another namespace or a file describes", async () => {
      const document = { apiVersion: DECLARATIVE_VERSION, kind: "Channel", metadata: { name: "main" } };
      const documents = [{ ...document, spec: { type: "openai", models: ["theirs"] } }];
      await kit.members.root.data(
        kit.members.root.post("/api/declarative/apply", { manager: "file:production", documents }),
      );
      await channel("main");
      await start();
      await untilCondition("Channel", "main", { status: "False", reason: "Conflict" });
      expect((await rows()).map(({ models }) => models)).toEqual(["theirs"]);
      await annotate(place("Channel", "main"), ANNOTATION.adopt, "true");
      await untilCondition("Channel", "main", { status: "True" });
    });

    line("any option but `KubernetesPaused`", async () => {
      await put("OptionSet", "site", { values: { SystemName: "Ours" } });
      await put("OptionSet", "pause", { values: { KubernetesPaused: "true" } });
      await start();
      await untilCondition("OptionSet", "site", { status: "True" });
      await untilCondition("OptionSet", "pause", { status: "False", reason: "Invalid" });
      expect(kit.app.snapshots.current().options).toMatchObject({ SystemName: "Ours", KubernetesPaused: false });
    });

    line("a budget of any user, group, model or channel", async () => {
      await put("Budget", "cap", { scope: "user", subject: "boss", period: "day", limit: 100 });
      await start();
      await untilCondition("Budget", "cap", { status: "True" });
    });

    test("the page for operators has these lines and no other", () => expect(readTable()).toEqual(tested));
  });
}
