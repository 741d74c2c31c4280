import { describe, expect, test } from "vitest";
import { DELIVERED } from "../relay/selection/key-outcomes.ts";
import { useController, type ContractCluster } from "./controller-kit.contract.ts";

/** The contract that Ready says whether a channel takes calls, for any server of the Kubernetes API. */
export function servingContract(name: string, open: () => Promise<ContractCluster>): void {
  describe(`Ready of channels with ${name}`, () => {
    const kit = useController(open);
    const { place, channel, secret, untilCondition, rows, start, stop } = kit;
    const usingSecret = { credentialsFrom: { secretKeyRef: { name: "openai", key: "key" } } };
    const refused = { kind: "refused", message: "Incorrect API key provided." } as const;
    const ready = (expected: object, one = "main") => untilCondition("Channel", one, expected, "Ready");
    const id = async () => (await rows())[0]?.id ?? 0;

    const serve = async (spec: object = {}) => {
      await secret("openai", { key: "sk-one" });
      await channel("main", { ...usingSecret, ...spec });
      await start();
      await ready({ status: "True", reason: "Ready" });
    };
    const switchTo = async (status: number) =>
      kit.members.admin.data(kit.members.admin.put("/api/channel/", { id: await id(), status }));

    test.each([{}, { enabled: true }])(
      "a channel that was applied before its Secret serves when that comes: %j",
      async (spec) => {
        await channel("main", { ...usingSecret, ...spec });
        await start();
        await untilCondition("Channel", "main", { status: "True" }, "Accepted");
        await ready({ status: "False", reason: "SecretNotFound" });
        expect((await rows())[0]?.status).toBe(2);
        await secret("openai", { key: "sk-one" });
        await ready({ status: "True" });
        expect((await rows())[0]?.status).toBe(1);
      },
    );

    test("a channel without a key is accepted and programmed, and not ready", async () => {
      await channel("main");
      await start();
      await untilCondition("Channel", "main", { status: "True" }, "Accepted");
      await untilCondition("Channel", "main", { status: "True", reason: "Applied" });
      await ready({ status: "False", reason: "NoKey" });
    });

    test("a channel that its spec disables has the reason Disabled, which health checks read as suspended", async () => {
      await secret("openai", { key: "sk-one" });
      await channel("main", { ...usingSecret, enabled: false });
      await start();
      await ready({ status: "False", reason: "Disabled" });
    });

    test.each([{}, { enabled: true }])(
      "a channel that is switched off by hand is not ready until it is on again: %j",
      async (spec) => {
        await serve(spec);
        await switchTo(2);
        await ready({ status: "False", reason: "DisabledByHand" });
        await switchTo(1);
        await ready({ status: "True" });
      },
    );

    test("a channel that the gateway switched off says why", async () => {
      await serve();
      await kit.app.operations.channels.disable(await id(), "Account deactivated");
      await ready({
        status: "False",
        reason: "DisabledBySystem",
        message: "The gateway switched the channel off: Account deactivated.",
      });
      expect((await kit.api.get(place("Channel", "main"), AbortSignal.timeout(5_000))).status).toMatchObject({
        state: "DisabledBySystem",
      });
    });

    test("a refusal of the key lasts until an answer is delivered, also under the next leader", async () => {
      await serve();
      kit.keyOutcomes.observe(await id(), 0, refused);
      await ready({ status: "False", reason: "KeyRefused" });
      await stop();
      kit.keyOutcomes.forget(await id());
      await start();
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      await ready({ status: "False", reason: "KeyRefused" });
      kit.keyOutcomes.observe(await id(), 0, DELIVERED);
      await ready({ status: "True" });
    });

    test("a new key ends what was said about the old one", async () => {
      await serve();
      kit.keyOutcomes.observe(await id(), 0, refused);
      await ready({ status: "False", reason: "KeyRefused" });
      kit.keyOutcomes.forget(await id());
      const data = { key: Buffer.from("sk-two").toString("base64") };
      await kit.api.patch(`/api/v1/namespaces/${kit.namespace}/secrets/openai`, { data }, AbortSignal.timeout(5_000));
      await ready({ status: "True" });
    });

    test("a failed test counts, with another reason than a refusal", async () => {
      await serve({ baseUrl: "http://127.0.0.1:1" });
      await kit.members.admin.get(`/api/channel/test/${await id()}`);
      await ready({ status: "False", reason: "TestFailed" });
    });

    test("an open breaker counts until it closes", async () => {
      await serve();
      for (let call = 0; call < 5; call += 1) kit.breakers.observe(await id(), 0, "failed");
      await ready({ status: "False", reason: "BreakerOpen" });
      kit.breakers.applyRemote(await id(), 0, 0);
      await ready({ status: "True" });
    });
  });
}
