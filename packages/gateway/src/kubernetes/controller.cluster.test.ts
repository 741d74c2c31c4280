// Tests the guarantees of the controller, and behaviour that only a real API server shows.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startCluster, type Cluster } from "@fairway/testkit/cluster";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../test/kit/management-app.ts";
import { quietLog, recordingLog } from "../../test/kit/support.ts";
import { createSingleElector } from "../jobs/leader.ts";
import { createMetrics } from "../observability/metrics.ts";
import { openLine, readKubeConfig, writeKubeConfig } from "./api-line.contract.ts";
import { connect, type KubeObject } from "./client/api.ts";
import { findCondition } from "./conditions.ts";
import { createController, type ControllerDeps } from "./controller.ts";
import { createQuietHealth, never, type ContractCluster } from "./controller-kit.contract.ts";
import { controllerContract } from "./controller.contract.ts";
import { gatewaysContract } from "./gateways.contract.ts";
import { outageContract } from "./outage.contract.ts";
import { rightsContract } from "./rights.contract.ts";
import { secretsContract } from "./secrets.contract.ts";
import { servingContract } from "./serving.contract.ts";
import { wrongValuesContract } from "./wrong-values.contract.ts";
import { listPath } from "./resources.ts";

const DEFINITIONS = join(import.meta.dirname, "../../../../charts/fairway-crds/templates");
let cluster: Cluster;
let count = 0;
const folder = mkdtempSync(join(tmpdir(), "fairway-kubeconfig-"));

async function namespace(): Promise<string> {
  const name = `controller-${process.pid}-${(count += 1)}`;
  await cluster.kubectl("create", "namespace", name);
  return name;
}

function createDeps(
  app: ManagementApp,
  place: string,
  configFile: string,
  secretNames: readonly string[] = ["openai"],
): ControllerDeps {
  return {
    documents: app.documents,
    snapshots: app.snapshots,
    elector: createSingleElector(),
    health: createQuietHealth(),
    clock: { now: () => Date.now() },
    log: quietLog,
    metrics: createMetrics({ version: "0" }),
    settings: {
      namespaces: [place],
      configFile,
      resyncSeconds: 600,
      drift: "enforce",
      hasFinalizers: true,
      deletions: { percent: 50 },
      secretNames,
      ownSecretNames: [],
      gatewayName: "first",
      tokenOwners: { [place]: ["root"] },
      startMs: 0,
    },
  };
}

beforeAll(async () => {
  cluster = await startCluster();
  await cluster.kubectl("apply", "-f", DEFINITIONS);
  await cluster.kubectl("wait", "--for=condition=Established", "crd", "-l", "app.kubernetes.io/part-of=fairway");
}, 300_000);
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await cluster?.stop();
});

async function openContract(): Promise<ContractCluster> {
  const line = await openLine(cluster, folder);
  return {
    connect: () => connect(line.kubeconfig),
    direct: () => connect(cluster.kubeconfig),
    settleMs: 5_000,
    namespace,
    remove: async (path) => void (await cluster.kubectl("delete", "--raw", path)),
    // No server drops its versions on request; `reflector.test.ts` covers that.
    compact: () => Promise.resolve(line.cut()),
    setAway: (isAway) => (isAway ? line.down() : line.up()),
    close: () => line.down(),
  };
}
controllerContract("a real API server", openContract);
secretsContract("a real API server", openContract, true);
gatewaysContract("a real API server", openContract);
rightsContract("a real API server", openContract);
servingContract("a real API server", openContract);
outageContract("a real API server", openContract);
wrongValuesContract("a real API server", openContract);

test("while the API server is away nothing changes, and afterwards everything that was missed is applied", async () => {
  const place = await namespace();
  const line = await openLine(cluster, folder);
  const app = await startManagementApp({ url: "sqlite::memory:" });
  const controller = createController(createDeps(app, place, line.kubeconfig));
  const apply = (name: string, spec: object = {}) =>
    cluster.apply(
      JSON.stringify({
        apiVersion: "fairway.dev/v1alpha1",
        kind: "Channel",
        metadata: { name, namespace: place },
        spec: { type: "openai", models: ["m"], ...spec },
      }),
    );
  const ready = (name: string) =>
    cluster.kubectl("wait", "--for=condition=Programmed", `channel.fairway.dev/${name}`, "--timeout=60s", "-n", place);
  const rows = () => app.database.db.selectFrom("channels").select(["name", "priority"]).orderBy("name").execute();
  for (const name of ["a", "b", "c"]) await apply(name);
  await controller.start();
  for (const name of ["a", "b", "c"]) await ready(name);
  await line.down();
  await apply("a", { priority: 7 });
  await apply("d");
  await cluster.kubectl("delete", "channel.fairway.dev/b", "-n", place, "--wait=false");
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  expect((await rows()).map(({ name, priority }) => `${name} ${priority}`)).toEqual(["a 0", "b 0", "c 0"]);
  await line.up();
  const expected = ["a 7", "c 0", "d 0"];
  await expect
    .poll(async () => (await rows()).map(({ name, priority }) => `${name} ${priority}`), { timeout: 60_000 })
    .toEqual(expected);
  await controller.stop();
  await line.down();
  await app.close();
});

describe("kubectl apply --dry-run=server", () => {
  const apiVersion = "fairway.dev/v1alpha1";
  const dryRun = (kind: string, spec: object) =>
    cluster.apply(JSON.stringify({ apiVersion, kind, metadata: { name: "x" }, spec }), "--dry-run=server");

  test.each([
    ["Channel", { type: "openai", models: ["m"], credentialsFrom: { secretKeyRef: { name: "a", key: "b" } } }],
    ["OptionSet", { values: { SystemName: "Ours" }, json: { GroupRatio: { default: 1 } } }],
    ["Token", { owner: { username: "ann" }, expiresAt: null, quota: { amount: 5, mode: "Maintain" } }],
    ["Budget", { scope: "user", subject: "ann", period: "day", limit: 5 }],
  ])("takes a %s", async (kind, spec) => {
    expect(await dryRun(kind, spec)).toContain("created (server dry run)");
  });

  test.each([
    ["Channel", { type: "nope", models: ["m"] }, 'spec.type: Unsupported value: "nope"'],
    ["Channel", { type: "openai", baseUrl: "api.example.com" }, "spec.baseUrl is not a web address"],
    ["Channel", { type: "openai", baseUrl: "ftp://example.com" }, "spec.baseUrl is not a web address"],
    ["Channel", { type: "openai", key: "sk-x" }, "spec.key is not for clusters"],
    ["Channel", { type: "openai", credentialsFrom: { env: "X" } }, "names a Secret of this namespace"],
    ["Channel", { type: "openai", priority: -1000 }, "spec.priority in body should be greater than or equal to -999"],
    ["Channel", { type: "openai", models: [] }, "spec.models in body should have at least 1 items"],
    ["Channel", { type: "openai", models: ["a", "a"] }, "Duplicate value"],
    ["Channel", { type: "openai", colour: "red" }, 'unknown field "spec.colour"'],
    ["Channel", { models: ["m"] }, "spec.type: Required value"],
    ["OptionSet", { valuesFrom: [{ option: "SMTPToken", file: "a" }] }, "names a Secret of this namespace"],
    ["OptionSet", { values: { SystemName: 5 } }, "must be of type string"],
    ["Token", { owner: { username: "ann" }, expiresAt: "tomorrow" }, "spec.expiresAt"],
    ["Token", { owner: {} }, "spec.owner.username: Required value"],
    ["Token", { owner: { username: "ann" }, limits: { rpm: 0 } }, "should be greater than or equal to 1"],
    ["Budget", { scope: "galaxy", subject: "a", period: "day", limit: 1 }, "spec.scope: Unsupported value"],
    ["Budget", { scope: "user", subject: "a", period: "day", limit: 0 }, "spec.limit in body should be greater"],
  ])("refuses a %s with %j", async (kind, spec, sentence) => {
    await expect(dryRun(kind, spec)).rejects.toThrow(sentence);
  });

  test("takes the resources of deploy/gitops", async () => {
    const folder = join(import.meta.dirname, "../../../../deploy/gitops/resources");
    const files = ["channels", "options", "budgets"].flatMap((name) => ["-f", join(folder, `${name}.yaml`)]);
    expect((await cluster.kubectl("apply", "--dry-run=server", ...files)).match(/server dry run/g)).toHaveLength(4);
  });

  test("refuses a change of what does not change", async () => {
    const place = await namespace();
    const put = (spec: object) =>
      cluster.apply(JSON.stringify({ apiVersion, kind: "Channel", metadata: { name: "x", namespace: place }, spec }));
    await put({ type: "openai", models: ["m"] });
    await expect(put({ type: "azure", models: ["m"] })).rejects.toThrow("the type of a channel does not change");
  });
});

describe("the service account of the chart", () => {
  const CHART = join(import.meta.dirname, "../../../../charts/fairway");

  /** Creates a kubeconfig for the account of the chart, with the permissions of its Role. */
  async function createAccountConfig(
    place: string,
    change: (role: string) => string = (role) => role,
    ...sets: string[]
  ): Promise<string> {
    const values = [
      "--namespace",
      place,
      "-f",
      join(CHART, "ci/gitops.yaml"),
      ...sets.flatMap((one) => ["--set", one]),
    ];
    const shown = ["gitops-role", "serviceaccount"].flatMap((file) => ["--show-only", `templates/${file}.yaml`]);
    const rendered = await cluster.helm("template", "demo", CHART, ...values, ...shown);
    await cluster.apply(change(rendered), "--namespace", place);
    const config = await readKubeConfig(cluster);
    const token = await cluster.kubectl("create", "token", "demo-fairway", "--namespace", place);
    const users = config.users.map((user) => ({ ...user, user: { token: token.trim() } }));
    return writeKubeConfig(folder, { ...config, users });
  }

  async function run(place: string, configFile: string, secretNames?: readonly string[]) {
    const app = await startManagementApp({ url: "sqlite::memory:" });
    const { log, lines } = recordingLog();
    const controller = createController({ ...createDeps(app, place, configFile, secretNames), log });
    await controller.start();
    const stop = async () => {
      await controller.stop();
      await app.close();
    };
    return { lines, stop };
  }

  function waitForReason(resource: string, place: string, reason: string): Promise<string> {
    const condition = `jsonpath={.status.conditions[?(@.type=="Ready")].reason}=${reason}`;
    return cluster.kubectl("wait", resource, `--for=${condition}`, "--timeout=30s", "-n", place);
  }

  test("may do all that the controller does, and nothing else", async () => {
    const place = await namespace();
    const file = await createAccountConfig(place);
    await cluster.kubectl("create", "secret", "generic", "openai", "--from-literal=key=sk-one", "--namespace", place);
    const spec = { type: "openai", models: ["m"], credentialsFrom: { secretKeyRef: { name: "openai", key: "key" } } };
    const main = { apiVersion: "fairway.dev/v1alpha1", kind: "Channel", metadata: { name: "main" }, spec };
    await cluster.apply(JSON.stringify(main), "--namespace", place);
    const { lines, stop } = await run(place, file);
    await cluster.kubectl("wait", "--for=condition=Ready", "channel.fairway.dev/main", "--timeout=30s", "-n", place);
    const template = 'jsonpath={range .metadata.managedFields[*]}{.manager} {.subresource}{"\\n"}{end}';
    const shown = ["channel.fairway.dev/main", "-n", place, "--show-managed-fields", "-o", template];
    const managers = await cluster.kubectl("get", ...shown);
    expect(managers).toContain("fairway status\n");
    expect(managers).not.toContain("unknown");
    await cluster.kubectl("delete", "channel.fairway.dev/main", "--timeout=30s", "-n", place);
    await stop();
    expect(lines()).not.toContain("cannot be watched");
    const can = (...args: string[]) => cluster.kubectl("--kubeconfig", file, "auth", "can-i", ...args, "-n", place);
    await expect(can("get", "secret/other")).rejects.toThrow("no");
    await expect(can("update", "channels.fairway.dev")).rejects.toThrow("no");
  });

  test("writes the key of a token with the right for it, only in its namespace, and says when it has none", async () => {
    const place = await namespace();
    const spec = { owner: { username: "root" }, writeSecretTo: { name: "ci-key" } };
    const token = { apiVersion: "fairway.dev/v1alpha1", kind: "Token", metadata: { name: "ci" }, spec };
    await cluster.apply(JSON.stringify(token), "--namespace", place);
    const wait = (condition: string) =>
      cluster.kubectl("wait", `--for=${condition}`, "token.fairway.dev/ci", "--timeout=30s", "-n", place);
    const without = await run(place, await createAccountConfig(place));
    await wait('jsonpath={.status.conditions[?(@.type=="SecretWritten")].reason}=SecretForbidden');
    await without.stop();
    const file = await createAccountConfig(
      place,
      undefined,
      "gitops.tokenSecrets=true",
      `gitops.tokenOwners.${place}={root}`,
      "gitops.secretNames={openai,ci-key}",
    );
    const { stop } = await run(place, file);
    await wait("condition=Ready");
    await stop();
    const key = ["get", "secret", "ci-key", "-n", place, "-o", "jsonpath={.data.api-key}"];
    expect(Buffer.from(await cluster.kubectl(...key), "base64").toString()).toMatch(/^sk-/);
    const can = (...args: string[]) => cluster.kubectl("--kubeconfig", file, "auth", "can-i", ...args);
    await expect(can("create", "secrets", "-n", "default")).rejects.toThrow("no");
    await expect(can("patch", "secret/other", "-n", place)).rejects.toThrow("no");
  });

  test("that lacks a verb is named in the log, with the cure", async () => {
    const place = await namespace();
    const file = await createAccountConfig(place, (role) =>
      role.replace(/- get\n +- list\n +- watch\n +- patch|\[get, list, watch, patch\]/, "[get]"),
    );
    const { lines, stop } = await run(place, file);
    await expect.poll(lines, { timeout: 20_000 }).toContain("gitops.enabled of the chart makes the Role");
    expect(lines()).toContain("cannot list resource");
    await stop();
  });

  test("that may not read a Secret says so on the resource that names it, and applies the others", async () => {
    const place = await namespace();
    const file = await createAccountConfig(place);
    const channel = (name: string, secret: string) => {
      const credentialsFrom = { secretKeyRef: { name: secret, key: "key" } };
      const spec = { type: "openai", models: ["m"], credentialsFrom };
      const resource = { apiVersion: "fairway.dev/v1alpha1", kind: "Channel", metadata: { name }, spec };
      return cluster.apply(JSON.stringify(resource), "--namespace", place);
    };
    for (const name of ["openai", "other"])
      await cluster.kubectl("create", "secret", "generic", name, "--from-literal=key=sk-one", "--namespace", place);
    await channel("named", "openai");
    await channel("unnamed", "other");
    const { lines, stop } = await run(place, file, ["openai", "other"]);
    const reason = (name: string, text: string) => waitForReason(`channel.fairway.dev/${name}`, place, text);
    await reason("named", "Ready");
    await reason("unnamed", "SecretForbidden");
    const status = await cluster.kubectl("get", "channel.fairway.dev/unnamed", "-n", place, "-o", "jsonpath={.status}");
    expect(status).toContain("The gateway may not read Secret other: grant the service account the verb");
    await expect.poll(lines).toContain("Secrets cannot be watched");
    expect(lines()).toContain("gitops.secretNames limits the Secrets");

    await createAccountConfig(place, undefined, "gitops.secretNames={openai,other}");
    await reason("unnamed", "Ready");
    await stop();
  });

  test("that may not change a resource says so on it", async () => {
    const place = await namespace();
    const readOnly = (role: string) => role.replace("[get, list, watch, patch]", "[get, list, watch]");
    const spec = { type: "openai", models: ["m"] };
    const main = { apiVersion: "fairway.dev/v1alpha1", kind: "Channel", metadata: { name: "main" }, spec };
    await cluster.apply(JSON.stringify(main), "--namespace", place);
    const { lines, stop } = await run(place, await createAccountConfig(place, readOnly));
    await waitForReason("channel.fairway.dev/main", place, "Forbidden");
    expect(lines()).toContain("gitops.enabled of the chart makes the Role");
    const status = await cluster.kubectl("get", "channel.fairway.dev/main", "-n", place, "-o", "jsonpath={.status}");
    expect(status).toContain("cannot patch resource");
    await stop();
  });
});

// The measured time depends on the API server, which shares the machine with other tests, so it is printed.
test(
  "reconciles 1,000 channels with less than 10 seconds of its own processor time",
  { timeout: 240_000 },
  async () => {
    const place = await namespace();
    const app = await startManagementApp({ url: "sqlite::memory:" });
    const api = await connect(cluster.kubeconfig);
    const names = Array.from({ length: 1_000 }, (_, at) => `c${at}`);
    const spec = { type: "openai", models: ["m"], groups: ["default"], priority: 1 };
    for (let at = 0; at < names.length; at += 20)
      await Promise.all(
        names
          .slice(at, at + 20)
          .map((name) =>
            api.create(
              listPath("Channel", place),
              { apiVersion: "fairway.dev/v1alpha1", kind: "Channel", metadata: { name }, spec },
              never,
            ),
          ),
      );
    const controller = createController(createDeps(app, place, cluster.kubeconfig));
    const [started, used] = [performance.now(), process.cpuUsage()];
    await controller.start();
    const isSynced = ({ status }: KubeObject) => findCondition(status, "Programmed")?.status === "True";
    await expect
      .poll(async () => (await api.list({ path: listPath("Channel", place) }, never)).items.filter(isSynced).length, {
        timeout: 200_000,
        interval: 1_000,
      })
      .toBe(names.length);
    const seconds = (performance.now() - started) / 1000;
    const { user, system } = process.cpuUsage(used);
    const own = (user + system) / 1e6;
    console.log(
      `1,000 channels were reconciled in ${seconds.toFixed(1)} s, ${own.toFixed(1)} s of them by the controller`,
    );
    await controller.stop();
    await api.close();
    await app.close();
    expect(own).toBeLessThan(10);
  },
);
