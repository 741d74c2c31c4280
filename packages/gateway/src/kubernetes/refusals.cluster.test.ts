// Sets every field of every resource to an invalid value: a real API server refuses it and names the field.
import { startCluster, type Cluster } from "@fairway/testkit/cluster";
import { DECLARATIVE_VERSION, type ResourceKind } from "@fairway/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connect, type KubeApi } from "./client/api.ts";
import { KINDS, listPath } from "./resources.ts";
import { COMPLETE, DEFINITIONS, listSchemaFaults } from "./schema-faults.contract.ts";

const never = new AbortController().signal;
let cluster: Cluster;
let api: KubeApi;
beforeAll(async () => {
  cluster = await startCluster();
  await cluster.kubectl("apply", "-f", DEFINITIONS);
  await cluster.kubectl("wait", "--for=condition=Established", "crd", "-l", "app.kubernetes.io/part-of=fairway");
  api = await connect(cluster.kubeconfig);
}, 300_000);
afterAll(async () => {
  await api?.close();
  await cluster?.stop();
});

async function dryRun(kind: ResourceKind, spec: object): Promise<string> {
  const resource = { apiVersion: DECLARATIVE_VERSION, kind, metadata: { name: "x" }, spec };
  try {
    await api.create(`${listPath(kind, "default")}?dryRun=All&fieldValidation=Strict`, resource, never);
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const channelWith = (more: object) => ({ ...COMPLETE.Channel, ...more });
const tokenWith = (more: object) => ({ ...COMPLETE.Token, ...more });

test.each<[ResourceKind, object, string]>([
  ["Channel", channelWith({ baseUrl: "api.example.com" }), "spec.baseUrl is not a web address: write it whole"],
  ["Channel", channelWith({ baseUrl: "http://" }), "spec.baseUrl is not a web address"],
  ["Channel", channelWith({ models: ["a,b"] }), "an entry of spec.models is empty, or has a comma"],
  ["Channel", channelWith({ groups: [" vip"] }), "an entry of spec.groups is empty, or has a comma or spaces"],
  ["Channel", channelWith({ key: "sk" }), "spec.key is not for clusters: store the key in a Secret"],
  ["Channel", channelWith({ credentialsFrom: { env: "A" } }), "set secretKeyRef.name and secretKeyRef.key"],
  [
    "Channel",
    channelWith({ credentialsFrom: { secretKeyRef: { name: "My_Secret", key: "a" } } }),
    "spec.credentialsFrom.secretKeyRef.name is not the name of a Secret",
  ],
  ["OptionSet", { valuesFrom: [{ option: "A", secretKeyRef: { name: "a", key: "a b" } }] }, "is not a key of a Secret"],
  ["OptionSet", { valuesFrom: [{ option: "Notice", secretKeyRef: { name: "a", key: "a" } }] }, "holds a secret"],
  ["OptionSet", { values: { RetryTimez: "3" } }, "no option of this version of the definitions: RetryTimez"],
  ["OptionSet", { values: { RetryTimes: "many" } }, "spec.values.RetryTimes must be an integer"],
  ["OptionSet", { values: { RegisterEnabled: "perhaps" } }, "spec.values.RegisterEnabled must be true or false"],
  ["OptionSet", { values: { ChannelStrategy: "fastest" } }, "spec.values.ChannelStrategy must be weight or least_busy"],
  ["OptionSet", { values: { QuotaPerUnit: "lots" } }, "spec.values.QuotaPerUnit must be a number"],
  ["OptionSet", { values: { ServerAddress: "nope" } }, "spec.values.ServerAddress must be an http(s) address or empty"],
  ["OptionSet", { values: { SMTPToken: "in-clear" } }, "spec.values.SMTPToken holds a secret"],
  ["Token", tokenWith({ owner: { username: "" } }), "spec.owner.username is empty: name a user"],
  ["Token", tokenWith({ quota: { unlimited: true, amount: 3 } }), "spec.quota is unlimited and has an amount"],
  [
    "Token",
    tokenWith({ fallbacks: { off: true, models: [{ model: "m" }] } }),
    "spec.fallbacks is off and names models",
  ],
  ["Token", tokenWith({ allowIps: ["10.0.0.0/33"] }), "an entry of spec.allowIps is neither an address nor a network"],
  ["Token", tokenWith({ modelLimits: ["a,b"] }), "an entry of spec.modelLimits is empty, or has a comma"],
  ["Token", tokenWith({ writeSecretTo: { name: "My_Secret" } }), "spec.writeSecretTo.name is not the name of a Secret"],
  ["Token", tokenWith({ writeSecretTo: { name: "a", key: "a/b" } }), "spec.writeSecretTo.key is not a key of a Secret"],
])("a %s with %j is refused in a sentence: %s", async (kind, spec, sentence) => {
  expect(await dryRun(kind, spec)).toContain(sentence);
});

test("what is usual is taken", async () => {
  const usual = {
    allowIps: ["192.0.2.7", "10.0.0.0/8", "::1", "fd00::/8"],
    quota: { unlimited: true, amount: 0 },
    modelLimits: ["gpt-4o", "anthropic/claude-3.5 (beta)"],
    writeSecretTo: { name: "search-fairway", key: "api_key" },
  };
  expect(await dryRun("Token", tokenWith(usual))).toBe("");
  const credentialsFrom = { secretKeyRef: { name: "openai.main", key: "API_KEY" } };
  const values = {
    RetryTimes: " 3 ",
    SystemName: "Ours",
    ServerAddress: "",
    QuotaPerUnit: "5e5",
    Notice: "many\nlines",
  };
  expect(await dryRun("OptionSet", { values })).toBe("");
  expect(await dryRun("Channel", channelWith({ baseUrl: "http://127.0.0.1:8080/v1", credentialsFrom }))).toBe("");
});

test.each(KINDS)("a %s that sets every list and map is taken, and refused with any part wrong", async (kind) => {
  expect(await dryRun(kind, COMPLETE[kind])).toBe("");
  const faults = listSchemaFaults(kind);
  const silent: string[] = [];
  for (const { field, limit, spec } of faults) {
    const said = await dryRun(kind, spec);
    const expected = limit === "unknown member" ? `unknown field "${field}"` : field;
    if (!said.includes(expected)) silent.push(`${field} ${limit}: ${said}`);
  }
  console.log(`${kind}: ${faults.length} wrong values`);
  expect(silent).toEqual([]);
});
