import { DECLARATIVE_VERSION } from "@fairway/wire";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../test/kit/management-app.ts";
import type { Runnable } from "../lib/async/runnable.ts";
import { readGateway } from "./conditions.ts";
import { isThere, never, POLL, useController, type ContractCluster } from "./controller-kit.contract.ts";
import type { ControllerSettings } from "./controller.ts";
import { ANNOTATION, FINALIZER, listPath } from "./resources.ts";

const OFTEN = { resyncSeconds: 0.2 };

/** Two gateways with databases of their own follow one namespace. */
export function gatewaysContract(name: string, open: () => Promise<ContractCluster>): void {
  describe(`two gateways in one namespace with ${name}`, () => {
    const kit = useController(open);
    const { channel, place, untilCondition, names, events, annotate, start } = kit;
    let second: ManagementApp;
    let running: Runnable | undefined;
    beforeAll(async () => void (second = await startManagementApp({ url: "sqlite::memory:" })));
    afterAll(() => second?.close());
    beforeEach(async () => {
      for (const table of ["channels", "abilities", "managed_resources"] as const)
        await second.database.db.deleteFrom(table).execute();
      await second.snapshots.refresh();
    });
    afterEach(async () => running?.stop());
    const startSecond = async (settings: Partial<ControllerSettings> = {}) => {
      running = kit.create(second, { gatewayName: "second", ...settings });
      await running.start();
    };
    const namesOfSecond = async () => {
      const rows = await second.database.db.selectFrom("channels").select("name").orderBy("name").execute();
      return rows.map((row) => row.name);
    };
    const gatewayOf = async (one: string) => readGateway((await kit.api.get(place("Channel", one), never)).status);
    const versionOf = async (one: string) => (await kit.api.get(place("Channel", one), never)).metadata.resourceVersion;

    test("the first has a resource, and the second writes one event and nothing else", async () => {
      await channel("main");
      await start(OFTEN);
      await untilCondition("Channel", "main", { status: "True" });
      const version = await versionOf("main");
      await startSecond(OFTEN);
      await expect.poll(() => events("Conflict"), POLL).toMatchObject([{ type: "Warning" }]);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      const [event, ...others] = await events("Conflict");
      expect(others).toEqual([]);
      expect(JSON.stringify(event)).toContain("The gateway first has this resource, so second leaves it alone.");
      expect([await gatewayOf("main"), await versionOf("main")]).toEqual(["first", version]);
      expect(await namesOfSecond()).toEqual([]);
    });

    test("the annotation decides, without an event, and moves a resource to another one", async () => {
      await channel("main");
      await channel("named", {}, { annotations: { [ANNOTATION.gateway]: "second" } });
      await start(OFTEN);
      await startSecond(OFTEN);
      await expect.poll(namesOfSecond, POLL).toContain("named");
      const counted = async () => (await events("Conflict")).filter((one) => JSON.stringify(one).includes("named"));
      expect(await counted()).toEqual([]);
      expect(await names()).not.toContain("named");
      await annotate(place("Channel", "main"), ANNOTATION.gateway, "second");
      await expect.poll(namesOfSecond, POLL).toEqual(["main", "named"]);
      await expect.poll(() => gatewayOf("main"), POLL).toBe("second");
      const version = await versionOf("main");
      await new Promise((resolve) => setTimeout(resolve, 600));
      expect(await versionOf("main")).toBe(version);
    });

    test("both start at once, and each resource gets one of them", async () => {
      const all = Array.from({ length: 12 }, (_, at) => `c${String(at).padStart(2, "0")}`);
      for (const one of all) await channel(one);
      await Promise.all([start(OFTEN), startSecond(OFTEN)]);
      for (const one of all) await untilCondition("Channel", one, { status: "True" });
      const [ofFirst, ofSecond] = [await names(), await namesOfSecond()];
      expect([...ofFirst, ...ofSecond].toSorted()).toEqual(all);
      for (const one of all) expect(await gatewayOf(one)).toBe(ofFirst.includes(one) ? "first" : "second");
    });

    test("only the gateway that has a resource lets it go", async () => {
      await channel("main");
      await start();
      await untilCondition("Channel", "main", { status: "True" });
      await kit.stop();
      await startSecond(OFTEN);
      await kit.cluster.remove(place("Channel", "main"));
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      expect((await kit.api.get(place("Channel", "main"), never)).metadata.finalizers).toEqual([FINALIZER]);
      await start();
      await expect.poll(() => isThere(kit.api, place("Channel", "main")), POLL).toBe(false);
      expect(await names()).toEqual([]);
    });

    test("of the same name in two namespaces, the first one applied has the object until it is deleted", async () => {
      const other = await kit.cluster.namespace();
      await channel("main", { models: ["first"] });
      await start({ namespaces: [kit.namespace, other] });
      await untilCondition("Channel", "main", { status: "True" });
      const document = { apiVersion: DECLARATIVE_VERSION, kind: "Channel", metadata: { name: "main" } };
      const spec = { type: "openai", models: ["second"] };
      await kit.api.create(listPath("Channel", other), { ...document, spec }, never);
      const reason = async () => {
        const { status } = await kit.api.get(`${listPath("Channel", other)}/main`, never);
        const { conditions = [] } = (status ?? {}) as { conditions?: { type: string; message: string }[] };
        return conditions.find(({ type }) => type === "Programmed");
      };
      await expect.poll(reason, POLL).toMatchObject({ status: "False", reason: "Conflict" });
      expect((await reason())?.message).toContain(`kubernetes:${kit.namespace}`);
      await kit.cluster.remove(place("Channel", "main"));
      await expect.poll(reason, POLL).toMatchObject({ status: "True", reason: "Applied" });
      expect((await kit.rows()).map(({ models }) => models)).toEqual(["second"]);
    });
  });
}
