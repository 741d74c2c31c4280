import { describe, expect, test } from "vitest";
import { recordingLog } from "../../test/kit/support.ts";
import { POLL, useController, type ContractCluster } from "./controller-kit.contract.ts";

/** What a controller does while the API server is away, as while its only server is replaced. */
export function outageContract(name: string, open: () => Promise<ContractCluster>): void {
  describe(`an outage of ${name}`, () => {
    const kit = useController(open);
    const readStates = async () => (await kit.rows()).map((row) => `${row.name} ${row.priority}`);

    test("loses no event, has one line in the log, and all that was missed is applied afterwards", async () => {
      const { log, lines } = recordingLog();
      await kit.channel("gone", { priority: 1 });
      await kit.channel("main", { priority: 1 });
      await kit.start({ resyncSeconds: 1, settleMs: 200 }, log);
      for (const one of ["gone", "main"]) await kit.untilCondition("Channel", one, { status: "True" });

      await kit.cluster.setAway(true);
      await kit.app.database.db.updateTable("channels").set({ priority: 9 }).where("name", "=", "main").execute();
      await kit.channel("later", { priority: 2 });
      await kit.cluster.remove(kit.place("Channel", "gone"));
      await expect.poll(readStates, POLL).toEqual(["gone 1", "main 1"]);
      expect(await kit.events("DriftReverted")).toEqual([]);

      await kit.cluster.setAway(false);
      await expect.poll(() => kit.events("DriftReverted"), POLL).toMatchObject([{ involvedObject: { name: "main" } }]);
      await expect.poll(readStates, POLL).toEqual(["later 2", "main 1"]);
      await kit.untilCondition("Channel", "later", { status: "True" });
      const warnings = lines()
        .split("\n")
        .filter((line) => /"level":"(?:warn|error)"/.test(line));
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toContain("the Kubernetes API server does not answer");
    });
  });
}
