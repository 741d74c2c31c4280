// Sets every field of every resource to an invalid value: a real API server refuses it and names the field.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startCluster, type Cluster } from "@fairway/testkit/cluster";
import { DECLARATIVE_VERSION, type ResourceKind } from "@fairway/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { connect, type KubeApi } from "./client/api.ts";
import { KINDS, listPath } from "./resources.ts";

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
}

interface Definition {
  readonly spec: {
    readonly names: { readonly kind: ResourceKind };
    readonly versions: readonly [{ readonly schema: { readonly openAPIV3Schema: { properties: { spec: Schema } } } }];
  };
}

const DEFINITIONS = join(import.meta.dirname, "../../../../charts/fairway-crds/templates");
const never = new AbortController().signal;
const SPECS = new Map(
  readdirSync(DEFINITIONS).map((file) => {
    const { spec } = parse(readFileSync(join(DEFINITIONS, file), "utf8")) as Definition;
    return [spec.names.kind, spec.versions[0].schema.openAPIV3Schema.properties.spec];
  }),
);
/** A valid resource of each kind. */
const RIGHT: Readonly<Record<ResourceKind, Readonly<Record<string, unknown>>>> = {
  Channel: { type: "openai", models: ["m"] },
  OptionSet: { values: { SystemName: "Ours" } },
  Token: { owner: { username: "ann" } },
  Budget: { scope: "user", subject: "ann", period: "day", limit: 1 },
};

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

function* leaves(schema: Schema, path: readonly string[] = []): Generator<[readonly string[], Schema]> {
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    const own = [...path, name];
    if (child.properties) yield* leaves(child, own);
    else yield [own, child];
  }
}

/** Returns values that the schema does not allow. */
function listInvalidValues({ type, enum: words, minimum, maximum, maxLength }: Schema): unknown[] {
  const another = type === "string" ? 5 : "wrong";
  return [
    another,
    ...(words ? ["no-such-value"] : []),
    ...(minimum === undefined ? [] : [minimum - 1]),
    ...(maximum === undefined ? [] : [maximum + 1]),
    ...(maxLength === undefined ? [] : ["x".repeat(maxLength + 1)]),
  ];
}

function specWith(kind: ResourceKind, path: readonly string[], value: unknown): object {
  const spec = structuredClone(RIGHT[kind]) as Record<string, unknown>;
  let at = spec;
  for (const name of path.slice(0, -1)) at = (at[name] ??= {}) as Record<string, unknown>;
  at[path.at(-1) ?? ""] = value;
  return spec;
}

async function dryRun(kind: ResourceKind, spec: object): Promise<string> {
  const resource = { apiVersion: DECLARATIVE_VERSION, kind, metadata: { name: "x" }, spec };
  try {
    await api.create(`${listPath(kind, "default")}?dryRun=All&fieldValidation=Strict`, resource, never);
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const channelWith = (more: object) => ({ ...RIGHT.Channel, ...more });
const tokenWith = (more: object) => ({ ...RIGHT.Token, ...more });

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

describe.each(KINDS)("a %s", (kind) => {
  test("that is right is taken", async () => {
    expect(await dryRun(kind, RIGHT[kind])).toBe("");
  });

  test("with any field wrong is refused with the name of the field", async () => {
    const cases = [...leaves(SPECS.get(kind) ?? {})].flatMap(([path, schema]) =>
      schema["x-kubernetes-preserve-unknown-fields"] ? [] : listInvalidValues(schema).map((value) => ({ path, value })),
    );
    const silent: string[] = [];
    for (const { path, value } of cases) {
      const said = await dryRun(kind, specWith(kind, path, value));
      if (!said.includes(`spec.${path.join(".")}`)) silent.push(`${path.join(".")}=${JSON.stringify(value)}: ${said}`);
    }
    console.log(`${kind}: ${cases.length} wrong values`);
    expect(silent).toEqual([]);
    expect(cases.length).toBeGreaterThan(4);
  });

  test("with a field that is spelled wrong is refused, at every level", async () => {
    expect(await dryRun(kind, { ...RIGHT[kind], colour: "red" })).toContain('unknown field "spec.colour"');
    for (const [path] of leaves(SPECS.get(kind) ?? {})) {
      if (path.length === 1) continue;
      const neighbour = [...path.slice(0, -1), "colour"];
      expect(await dryRun(kind, specWith(kind, neighbour, "red"))).toContain(
        `unknown field "spec.${neighbour.join(".")}"`,
      );
    }
  });
});
