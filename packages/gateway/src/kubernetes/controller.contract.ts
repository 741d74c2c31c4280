import { DECLARATIVE_VERSION, type ResourceKind } from "@fairway/wire";
import { describe, expect, test } from "vitest";
import { isThere, never, POLL, useController, type ContractCluster } from "./controller-kit.contract.ts";
import { ANNOTATION } from "./resources.ts";

/** The contract of the controller for any server of the Kubernetes API. */
export function controllerContract(name: string, open: () => Promise<ContractCluster>): void {
  describe(`the controller of custom resources with ${name}`, () => {
    const kit = useController(open);
    const {
      place,
      put,
      channel,
      secret,
      annotate,
      condition,
      untilCondition,
      rows,
      names,
      readChannelKey,
      events,
      start,
      stop,
    } = kit;

    test("leaves everything alone while KubernetesPaused is on, and catches up afterwards", async () => {
      const pausing = async (value: string) => {
        await kit.members.root.data(kit.members.root.put("/api/option/", { key: "KubernetesPaused", value }));
        await kit.app.snapshots.refresh();
      };
      const states = async () => (await rows()).map(({ name: one, models }) => `${one}: ${models}`);
      for (const one of ["first", "gone"]) await channel(one);
      await start();
      for (const one of ["first", "gone"]) await untilCondition("Channel", one, { reason: "Applied" });
      await pausing("true");
      await untilCondition("Channel", "first", { status: "Unknown", reason: "Paused" });
      await kit.api.patch(place("Channel", "first"), { spec: { models: ["m", "n"] } }, never);
      await channel("later");
      await kit.cluster.remove(place("Channel", "gone"));
      await start();
      await untilCondition("Channel", "later", { status: "Unknown", reason: "Paused" });
      expect(await states()).toEqual(["first: m", "gone: m"]);
      await pausing("false");
      await expect.poll(states, POLL).toEqual(["first: m,n", "later: m"]);
    });

    test("applies every kind and says so in the status", async () => {
      await secret("openai", { key: "sk-one" });
      await channel("main", { credentialsFrom: { secretKeyRef: { name: "openai", key: "key" } } });
      await put("Budget", "cap", { scope: "channel", subject: "main", period: "day", limit: 100 });
      await put("Token", "ci", { owner: { username: "ann" } });
      await put("OptionSet", "site", { values: { SystemName: "Ours" } });
      await start();
      const kinds = { Channel: "main", Budget: "cap", Token: "ci", OptionSet: "site" } as const;
      for (const [kind, one] of Object.entries(kinds))
        await untilCondition(
          kind as ResourceKind,
          one,
          { status: "True", reason: "Ready", observedGeneration: 1 },
          "Ready",
        );
      const [row] = await rows();
      const { status } = await kit.api.get(place("Channel", "main"), never);
      expect(status).toMatchObject({ resourceId: row?.id, observedGeneration: 1 });
      expect(await readChannelKey("main")).toBe("sk-one");
      expect(kit.app.snapshots.current().options.SystemName).toBe("Ours");
      await expect.poll(() => events("Applied"), POLL).toHaveLength(4);
      const audit = await kit.app.database.db
        .selectFrom("audit_log")
        .selectAll()
        .where("username", "=", "kubernetes")
        .execute();
      expect(audit.map(({ action }) => action)).toContain("kubernetesApply");
      expect(JSON.stringify(audit)).not.toContain("sk-one");
      const managed = await kit.members.admin.data<{ owner: string }[]>(
        kit.members.admin.get("/api/declarative/managed"),
      );
      expect(new Set(managed.map(({ owner }) => owner))).toEqual(new Set([`kubernetes:${kit.namespace}`]));
    });

    test("follows changes of the resource and writes nothing for its own status", async () => {
      await channel("main");
      await start();
      await untilCondition("Channel", "main", { status: "True" });
      await kit.api.patch(place("Channel", "main"), { spec: { models: ["m", "n"] } }, never);
      await untilCondition("Channel", "main", { status: "True", observedGeneration: 2 });
      expect((await rows())[0]?.models).toBe("m,n");
      const { metadata } = await kit.api.get(place("Channel", "main"), never);
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect((await kit.api.get(place("Channel", "main"), never)).metadata.resourceVersion).toBe(
        metadata.resourceVersion,
      );
    });

    test("leaves what exists as it is when a resource becomes unusable, and says why", async () => {
      await put("Token", "ci", { owner: { username: "ann" }, limits: { rpm: 5 } });
      await put("Token", "bad", { owner: { username: "no-such-user" } });
      await channel("good");
      await start();
      await untilCondition("Token", "bad", { status: "False", reason: "Invalid" });
      expect((await condition("Token", "bad"))?.message).toContain("there is no user no-such-user");
      await untilCondition("Token", "ci", { status: "True" });
      await untilCondition("Channel", "good", { status: "True" });
      await kit.api.patch(
        place("Token", "ci"),
        { spec: { group: "no-such-group", expiresAt: "2001-01-01T00:00:00Z" } },
        never,
      );
      await untilCondition("Token", "ci", { observedGeneration: 2 });
      await expect.poll(() => events("NotApplied"), POLL).not.toHaveLength(0);
      expect(
        await kit.app.database.db.selectFrom("tokens").select("id").where("deleted_at", "is", null).execute(),
      ).toHaveLength(1);
    });

    test("changes drift back, or only reports it", async () => {
      await channel("main", { priority: 5 });
      const drift = () => kit.app.database.db.updateTable("channels").set({ priority: 9 }).execute();
      await start({ resyncSeconds: 0.5 });
      await untilCondition("Channel", "main", { status: "True" });
      await drift();
      await expect.poll(async () => (await rows())[0]?.priority, POLL).toBe(5);
      await expect.poll(() => events("DriftReverted"), POLL).toHaveLength(1);
      await start({ resyncSeconds: 0.5, drift: "report" });
      await untilCondition("Channel", "main", { status: "False", reason: "InSync" }, "Drifted");
      await drift();
      await untilCondition("Channel", "main", { status: "True", reason: "FieldsChanged" }, "Drifted");
      expect((await condition("Channel", "main", "Drifted"))?.message).toContain("priority");
      expect((await rows())[0]?.priority).toBe(9);
    });

    test("deletes by the policy of the resource and then lets it go", async () => {
      await channel("plain");
      await channel("orphan", { deletionPolicy: "Orphan" });
      await start();
      for (const one of ["plain", "orphan"]) await untilCondition("Channel", one, { status: "True" });
      for (const one of ["plain", "orphan"]) await kit.cluster.remove(place("Channel", one));
      await expect.poll(() => isThere(kit.api, place("Channel", "plain")), POLL).toBe(false);
      await expect.poll(() => isThere(kit.api, place("Channel", "orphan")), POLL).toBe(false);
      expect(await names()).toEqual(["orphan"]);
      expect(await kit.app.database.db.selectFrom("managed_resources").selectAll().execute()).toEqual([]);
    });

    test("holds the deletion of more than half until it is confirmed", async () => {
      const all = ["a", "b", "c", "d", "e", "f"];
      for (const one of all) await channel(one);
      await start({ settleMs: kit.cluster.settleMs });
      for (const one of all) await untilCondition("Channel", one, { status: "True" });
      const doomed = all.slice(0, 4);
      await Promise.all(doomed.map((one) => kit.cluster.remove(place("Channel", one))));
      for (const one of doomed) await untilCondition("Channel", one, { status: "False", reason: "DeletionHeld" });
      expect(await names()).toEqual(all);
      for (const one of doomed) await annotate(place("Channel", one), ANNOTATION.confirm, "true");
      await expect.poll(names, POLL).toEqual(["e", "f"]);
      for (const one of doomed) await expect.poll(() => isThere(kit.api, place("Channel", one)), POLL).toBe(false);
    });

    test("refuses misspelt annotations of its own, and an option that would pause it", async () => {
      await channel("main");
      await put("OptionSet", "site", { values: { KubernetesPaused: "true" } });
      await start();
      await untilCondition("OptionSet", "site", { status: "False", reason: "Invalid" });
      expect((await condition("OptionSet", "site"))?.message).toContain("fairway kube gitops pause");
      await untilCondition("Channel", "main", { status: "True" });
      await annotate(place("Channel", "main"), ANNOTATION.reconcile, "pausd");
      await untilCondition("Channel", "main", { status: "False", reason: "Invalid" });
      expect((await condition("Channel", "main"))?.message).toContain('is "pausd"; it may be paused');
      await annotate(place("Channel", "main"), ANNOTATION.reconcile, "paused");
      await untilCondition("Channel", "main", { status: "Unknown", reason: "Paused" });
      await annotate(place("Channel", "main"), ANNOTATION.reconcile, "");
      await untilCondition("Channel", "main", { status: "True" });
      await annotate(place("Channel", "main"), "fairway.dev/confirm-delete", "true");
      await untilCondition("Channel", "main", { status: "False", reason: "Invalid" });
    });

    test("counts each kind alone, and keeps what a person wants to keep", async () => {
      const all = ["a", "b", "c", "d"];
      for (const one of all) await channel(one);
      for (const one of ["t1", "t2", "t3", "t4", "t5", "t6"]) await put("Token", one, { owner: { username: "ann" } });
      await start({ settleMs: kit.cluster.settleMs });
      for (const one of all) await untilCondition("Channel", one, { status: "True" });
      await Promise.all(all.map((one) => kit.cluster.remove(place("Channel", one))));
      for (const one of all) await untilCondition("Channel", one, { status: "False", reason: "DeletionHeld" });
      const before = await rows();
      for (const one of all) await annotate(place("Channel", one), ANNOTATION.keep, "true");
      for (const one of all) await expect.poll(() => isThere(kit.api, place("Channel", one)), POLL).toBe(false);
      expect(await names()).toEqual(all);
      await channel("a");
      await untilCondition("Channel", "a", { status: "True" });
      expect((await rows()).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    });

    test("holds what vanished while no controller ran, and deletes a single one of it", async () => {
      const all = ["a", "b", "c", "d", "e", "f"];
      for (const one of all) await channel(one);
      await start({ hasFinalizers: false });
      for (const one of all) await untilCondition("Channel", one, { status: "True" });
      await stop();
      await kit.cluster.remove(place("Channel", "a"));
      await start({ hasFinalizers: false });
      await expect.poll(names, POLL).toEqual(all.slice(1));
      await stop();
      for (const one of ["b", "c", "d", "e"]) await kit.cluster.remove(place("Channel", one));
      await start({ hasFinalizers: false });
      await channel("g");
      await untilCondition("Channel", "g", { status: "True" });
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      expect(await names()).toEqual(["b", "c", "d", "e", "f", "g"]);
    });

    test("leaves to another manager what is its own, until it is forced", async () => {
      const document = {
        apiVersion: DECLARATIVE_VERSION,
        kind: "Channel",
        metadata: { name: "main" },
        spec: { type: "openai", models: ["m"] },
      };
      await kit.members.root.data(
        kit.members.root.post("/api/declarative/apply", { manager: "file:production", documents: [document] }),
      );
      await channel("main", { priority: 7 });
      await start();
      await untilCondition("Channel", "main", { status: "False", reason: "Conflict" });
      expect((await condition("Channel", "main"))?.message).toContain("file:production");
      await annotate(place("Channel", "main"), ANNOTATION.adopt, "true");
      await untilCondition("Channel", "main", { status: "True" });
      expect((await rows()).map(({ priority }) => priority)).toEqual([7]);
    });

    test("takes over a channel that was made by hand, and leaves its other fields to the console", async () => {
      const form = { type: 1, name: "main", models: "m", group: "default", key: "sk-hand", priority: 3 };
      await kit.members.root.data(kit.members.root.post("/api/channel/", form));
      await channel("main", { models: ["n"] });
      await start();
      await untilCondition("Channel", "main", { status: "True" });
      const [row, second] = await rows();
      expect(second).toBeUndefined();
      expect(row).toMatchObject({ models: "n", priority: 3 });
      expect(await readChannelKey("main")).toBe("sk-hand");
      const change = (part: object) => kit.members.root.put("/api/channel/", { id: row?.id, ...part });
      expect((await change({ models: "other" })).body).toMatchObject({ reason: "managed_conflict" });
      expect((await change({ priority: 4 })).body["success"]).toBe(true);
    });

    test("leaves a paused resource alone", async () => {
      await put(
        "Channel",
        "main",
        { type: "openai", models: ["m"] },
        { annotations: { [ANNOTATION.reconcile]: "paused" } },
      );
      await start();
      await untilCondition("Channel", "main", { status: "Unknown", reason: "Paused" });
      expect(await names()).toEqual([]);
      await annotate(place("Channel", "main"), ANNOTATION.reconcile, "");
      await untilCondition("Channel", "main", { status: "True" });
    });

    test("finds what changed while its watches were broken", async () => {
      await channel("main");
      await start();
      await untilCondition("Channel", "main", { status: "True" });
      await kit.cluster.compact();
      await channel("second");
      await untilCondition("Channel", "second", { status: "True" });
      await kit.api.patch(place("Channel", "main"), { spec: { priority: 8 } }, never);
      await untilCondition("Channel", "main", { status: "True", observedGeneration: 2 });
    });

    test("one that is stopped in the middle continues with one row for each resource", async () => {
      const all = Array.from({ length: 40 }, (_, at) => `c${String(at).padStart(2, "0")}`);
      for (const one of all) await channel(one);
      for (const afterMs of [30, 60, 90]) {
        await start();
        await new Promise((resolve) => setTimeout(resolve, afterMs));
        await stop();
      }
      await start();
      for (const one of all) await untilCondition("Channel", one, { status: "True" });
      expect(await names()).toEqual(all);
    });
  });
}
