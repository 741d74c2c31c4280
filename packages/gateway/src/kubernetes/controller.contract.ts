import { DECLARATIVE_VERSION, type DeclarativeKind } from "@fairway/wire";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../test/kit/management-app.ts";
import { signInMembers, type Members } from "../../test/kit/members.ts";
import { quietLog } from "../../test/kit/support.ts";
import { createSingleElector } from "../jobs/leader.ts";
import type { Runnable } from "../lib/async/runnable.ts";
import { createMetrics } from "../observability/metrics.ts";
import type { KubeApi, KubeObject } from "./client/api.ts";
import type { Condition } from "./conditions.ts";
import { createController, type ControllerSettings } from "./controller.ts";
import { ANNOTATION, listPath, secretsPath } from "./resources.ts";

/** A cluster that the tests write to as `kubectl` does. */
export interface ContractCluster {
  /** For the controller. */
  connect(): Promise<KubeApi>;
  /** For the tests: `compact` does not reach it. */
  direct(): Promise<KubeApi>;
  /** Longest time between two deletions of a test. */
  readonly settleMs: number;
  /** A new empty namespace. */
  namespace(): Promise<string>;
  remove(path: string): Promise<void>;
  /** Breaks all watches and loses the versions that they were at. */
  compact(): Promise<void>;
  close(): Promise<void>;
}

const never = new AbortController().signal;

/** The contract of the controller for any server of the Kubernetes API. */
export function controllerContract(name: string, open: () => Promise<ContractCluster>): void {
  describe(`the controller of custom resources with ${name}`, () => {
    let cluster: ContractCluster;
    let api: KubeApi;
    let app: ManagementApp;
    let members: Members;
    let namespace: string;
    let running: Runnable | undefined;

    beforeAll(async () => {
      cluster = await open();
      api = await cluster.direct();
      app = await startManagementApp({ url: "sqlite::memory:" });
      members = await signInMembers(app);
    });
    afterAll(async () => {
      await api?.close();
      await app?.close();
      await cluster?.close();
    });
    beforeEach(async () => {
      for (const table of ["channels", "abilities", "tokens", "budgets", "options", "managed_resources"] as const)
        await app.database.db.deleteFrom(table).execute();
      await app.snapshots.refresh();
      namespace = await cluster.namespace();
    });
    afterEach(stop);

    async function start(settings: Partial<ControllerSettings> = {}): Promise<void> {
      await stop();
      running = createController({
        documents: app.documents,
        snapshots: app.snapshots,
        elector: createSingleElector(),
        clock: { now: () => Date.now() },
        log: quietLog,
        metrics: createMetrics({ version: "0" }),
        connect: () => cluster.connect(),
        settings: {
          namespaces: [namespace],
          configFile: undefined,
          resyncSeconds: 600,
          drift: "enforce",
          hasFinalizers: true,
          deletions: { percent: 50 },
          secretNames: [],
          settleMs: 400,
          startMs: 0,
          ...settings,
        },
      });
      await running.start();
    }
    async function stop(): Promise<void> {
      await running?.stop();
      running = undefined;
    }

    const place = (kind: DeclarativeKind, one: string) => `${listPath(kind, namespace)}/${one}`;
    const put = (kind: DeclarativeKind, one: string, spec: object, metadata: object = {}) =>
      api.create(
        listPath(kind, namespace),
        { apiVersion: DECLARATIVE_VERSION, kind, metadata: { name: one, ...metadata }, spec },
        never,
      );
    const channel = (one: string, spec: object = {}) => put("Channel", one, { type: "openai", models: ["m"], ...spec });
    const secret = (one: string, data: Record<string, string>) =>
      api.create(
        secretsPath(namespace),
        { apiVersion: "v1", kind: "Secret", metadata: { name: one }, data: base64(data) },
        never,
      );
    const annotate = (path: string, annotation: string, value: string) =>
      api.patch(path, { metadata: { annotations: { [annotation]: value } } }, never);
    const condition = async (kind: DeclarativeKind, one: string, type = "Synced"): Promise<Condition | undefined> => {
      const { status } = await api.get(place(kind, one), never);
      return (status as { conditions?: Condition[] } | undefined)?.conditions?.find((each) => each.type === type);
    };
    const untilCondition = (kind: DeclarativeKind, one: string, expected: Partial<Condition>, type = "Synced") =>
      expect.poll(() => condition(kind, one, type), POLL).toMatchObject(expected);
    const rows = () => app.database.db.selectFrom("channels").selectAll().orderBy("name").execute();
    const names = async () => (await rows()).map((row) => row.name);
    const keyOf = async (one: string) => {
      const row = (await rows()).find((each) => each.name === one);
      return row && app.operations.channels.store.keyOf(row.id);
    };
    const events = async (reason: string) =>
      (await api.list({ path: `/api/v1/namespaces/${namespace}/events` }, never)).items.filter(
        (event) => (event as KubeObject & { readonly reason?: string }).reason === reason,
      );

    test("leaves everything alone while KubernetesPaused is on, and catches up afterwards", async () => {
      const pausing = async (value: string) => {
        await members.root.data(members.root.put("/api/option/", { key: "KubernetesPaused", value }));
        await app.snapshots.refresh();
      };
      const states = async () => (await rows()).map(({ name: one, models }) => `${one}: ${models}`);
      for (const one of ["first", "gone"]) await channel(one);
      await start();
      for (const one of ["first", "gone"]) await untilCondition("Channel", one, { reason: "Applied" });
      await pausing("true");
      await untilCondition("Channel", "first", { status: "Unknown", reason: "Paused" });
      await api.patch(place("Channel", "first"), { spec: { models: ["m", "n"] } }, never);
      await channel("later");
      await cluster.remove(place("Channel", "gone"));
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
          kind as DeclarativeKind,
          one,
          { status: "True", reason: "Ready", observedGeneration: 1 },
          "Ready",
        );
      const [row] = await rows();
      const { status } = await api.get(place("Channel", "main"), never);
      expect(status).toMatchObject({ resourceId: row?.id, observedGeneration: 1 });
      expect(await keyOf("main")).toBe("sk-one");
      expect(app.snapshots.current().options.SystemName).toBe("Ours");
      await expect.poll(() => events("Applied"), POLL).toHaveLength(4);
      const audit = await app.database.db
        .selectFrom("audit_log")
        .selectAll()
        .where("username", "=", "kubernetes")
        .execute();
      expect(audit.map(({ action }) => action)).toContain("kubernetesApply");
      expect(JSON.stringify(audit)).not.toContain("sk-one");
      const managed = await members.admin.data<{ owner: string }[]>(members.admin.get("/api/declarative/managed"));
      expect(new Set(managed.map(({ owner }) => owner))).toEqual(new Set([`kubernetes:${namespace}`]));
    });

    test("follows changes of the resource and writes nothing for its own status", async () => {
      await channel("main");
      await start();
      await untilCondition("Channel", "main", { status: "True" });
      await api.patch(place("Channel", "main"), { spec: { models: ["m", "n"] } }, never);
      await untilCondition("Channel", "main", { status: "True", observedGeneration: 2 });
      expect((await rows())[0]?.models).toBe("m,n");
      const { metadata } = await api.get(place("Channel", "main"), never);
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect((await api.get(place("Channel", "main"), never)).metadata.resourceVersion).toBe(metadata.resourceVersion);
    });

    test("keeps a new channel off until its Secret exists, and follows a rotated one", async () => {
      await channel("main", { credentialsFrom: { secretKeyRef: { name: "late", key: "key" } } });
      await start();
      await untilCondition("Channel", "main", { status: "False", reason: "SecretNotFound" }, "SecretsResolved");
      await untilCondition("Channel", "main", { status: "False", reason: "SecretNotFound" }, "Ready");
      await secret("late", { other: "sk" });
      await untilCondition("Channel", "main", { status: "False", reason: "KeyNotFound" }, "SecretsResolved");
      await api.patch(`${secretsPath(namespace)}/late`, { data: base64({ key: "sk-one" }) }, never);
      await untilCondition("Channel", "main", { status: "True" }, "Ready");
      expect(await keyOf("main")).toBe("sk-one");
      await api.patch(`${secretsPath(namespace)}/late`, { data: base64({ key: "sk-two" }) }, never);
      await expect.poll(() => keyOf("main"), POLL).toBe("sk-two");
      await expect.poll(() => events("SecretChanged"), POLL).not.toHaveLength(0);
      await cluster.remove(`${secretsPath(namespace)}/late`);
      await untilCondition("Channel", "main", { status: "False", reason: "SecretNotFound" }, "SecretsResolved");
      expect(await keyOf("main")).toBe("sk-two");
    });

    test("writes the key of a token into the Secret that it names, again when that is lost, and never into another", async () => {
      const stored = (one: string) => api.get(`${secretsPath(namespace)}/${one}`, never).catch(() => undefined);
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
      const token = (await app.database.db.selectFrom("tokens").selectAll().where("name", "=", "ci").execute())[0];
      const own = await members.user.data<{ key: string }>(members.user.get(`/api/token/${token?.id}`));
      expect(await text("ci-key", "api-key")).toBe(`sk-${own.key}`);
      const { metadata } = await api.get(place("Token", "ci"), never);
      expect((await stored("ci-key"))?.metadata.ownerReferences).toMatchObject([
        { uid: metadata.uid, controller: true },
      ]);

      await untilCondition("Token", "bad", { status: "False", reason: "SecretForeign" }, "SecretWritten");
      await untilCondition("Token", "bad", { status: "False", reason: "SecretForeign" }, "Ready");
      expect((await stored("foreign"))?.data).toEqual(base64({ other: "theirs" }));

      await cluster.remove(`${secretsPath(namespace)}/ci-key`);
      await expect.poll(() => text("ci-key", "api-key"), POLL).toBe(`sk-${own.key}`);
      await api.patch(`${secretsPath(namespace)}/ci-key`, { data: base64({ "api-key": "sk-changed" }) }, never);
      await expect.poll(() => text("ci-key", "api-key"), POLL).toBe(`sk-${own.key}`);
      await api.patch(place("Token", "ci"), { spec: { writeSecretTo: { name: "ci-key", key: "TOKEN" } } }, never);
      await expect.poll(() => text("ci-key", "TOKEN"), POLL).toBe(`sk-${own.key}`);
      expect(await text("ci-key", "api-key")).toBeUndefined();
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
      await api.patch(
        place("Token", "ci"),
        { spec: { group: "no-such-group", expiresAt: "2001-01-01T00:00:00Z" } },
        never,
      );
      await untilCondition("Token", "ci", { observedGeneration: 2 });
      await expect.poll(() => events("NotApplied"), POLL).not.toHaveLength(0);
      expect(
        await app.database.db.selectFrom("tokens").select("id").where("deleted_at", "is", null).execute(),
      ).toHaveLength(1);
    });

    test("changes drift back, or only reports it", async () => {
      await channel("main", { priority: 5 });
      const drift = () => app.database.db.updateTable("channels").set({ priority: 9 }).execute();
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
      for (const one of ["plain", "orphan"]) await cluster.remove(place("Channel", one));
      await expect.poll(() => isThere(api, place("Channel", "plain")), POLL).toBe(false);
      await expect.poll(() => isThere(api, place("Channel", "orphan")), POLL).toBe(false);
      expect(await names()).toEqual(["orphan"]);
      expect(await app.database.db.selectFrom("managed_resources").selectAll().execute()).toEqual([]);
    });

    test("holds the deletion of more than half until it is confirmed", async () => {
      const all = ["a", "b", "c", "d", "e", "f"];
      for (const one of all) await channel(one);
      await start({ settleMs: cluster.settleMs });
      for (const one of all) await untilCondition("Channel", one, { status: "True" });
      const doomed = all.slice(0, 4);
      await Promise.all(doomed.map((one) => cluster.remove(place("Channel", one))));
      for (const one of doomed) await untilCondition("Channel", one, { status: "False", reason: "DeletionHeld" });
      expect(await names()).toEqual(all);
      for (const one of doomed) await annotate(place("Channel", one), ANNOTATION.confirm, "true");
      await expect.poll(names, POLL).toEqual(["e", "f"]);
      for (const one of doomed) await expect.poll(() => isThere(api, place("Channel", one)), POLL).toBe(false);
    });

    test("holds what vanished while no controller ran, and deletes a single one of it", async () => {
      const all = ["a", "b", "c", "d", "e", "f"];
      for (const one of all) await channel(one);
      await start({ hasFinalizers: false });
      for (const one of all) await untilCondition("Channel", one, { status: "True" });
      await stop();
      await cluster.remove(place("Channel", "a"));
      await start({ hasFinalizers: false });
      await expect.poll(names, POLL).toEqual(all.slice(1));
      await stop();
      for (const one of ["b", "c", "d", "e"]) await cluster.remove(place("Channel", one));
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
      await members.root.data(
        members.root.post("/api/declarative/apply", { manager: "file:production", documents: [document] }),
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
      await members.root.data(members.root.post("/api/channel/", form));
      await channel("main", { models: ["n"] });
      await start();
      await untilCondition("Channel", "main", { status: "True" });
      const [row, second] = await rows();
      expect(second).toBeUndefined();
      expect(row).toMatchObject({ models: "n", priority: 3 });
      expect(await keyOf("main")).toBe("sk-hand");
      const change = (part: object) => members.root.put("/api/channel/", { id: row?.id, ...part });
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
      await cluster.compact();
      await channel("second");
      await untilCondition("Channel", "second", { status: "True" });
      await api.patch(place("Channel", "main"), { spec: { priority: 8 } }, never);
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

const POLL = { timeout: 30_000, interval: 40 };

async function isThere(api: KubeApi, path: string): Promise<boolean> {
  return api.get(path, never).then(
    () => true,
    () => false,
  );
}

function base64(data: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")]));
}
