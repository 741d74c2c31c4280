// `fairway kube install` asks a person for the values that the chart needs; the chart accepts the answers.
import { execFileSync } from "node:child_process";
import { delimiter, dirname, join } from "node:path";
import { findHelm } from "@fairway/testkit/helm";
import { startPodServer, type PodServer } from "@fairway/testkit/pod-server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openTerminal, run } from "./terminal.ts";

const CHART = join(import.meta.dirname, "../../../charts/fairway");
let server: PodServer;
const helm = findHelm();

beforeAll(async () => {
  server = await startPodServer();
});
afterAll(async () => {
  await server?.stop();
});

const env = () => ({
  KUBECONFIG: server.kubeconfig,
  PATH: `${dirname(helm)}${delimiter}${process.env["PATH"] ?? ""}`,
});

/** Answers the questions in turn. Returns the values in the printed Helm command. */
async function install(...answers: readonly (readonly [string, string])[]): Promise<string[]> {
  const terminal = openTerminal(["kube", "install", "--chart", CHART, "--dry-run"], env());
  for (const [question, answer] of answers) {
    await terminal.sees(question);
    terminal.type(`${answer}\r`);
  }
  await terminal.sees(/helm install fairway .*--dry-run=server/);
  await terminal.exited;
  return [...terminal.shown.matchAll(/--set '?([^\s']+)/g)].map(([, value = ""]) => value);
}

const rendered = (values: readonly string[]) =>
  execFileSync(
    helm,
    [
      "template",
      "fairway",
      CHART,
      ...[...values, "secrets.generateWithoutCluster=true"].flatMap((value) => ["--set", value]),
    ],
    { encoding: "utf8" },
  );

describe("fairway kube install", () => {
  test("prompts for database, Redis, image and address, and names Secrets in place of passwords", async () => {
    const values = await install(
      ["Database [mysql]", "post"],
      ["address of the database [fairway-database]", ""],
      ["address of Redis [fairway-redis]", "our-redis"],
      ["holds the image [none]", "registry.example"],
      ["such as https://ai.example.com [none]", "https://models.example.com"],
      ["from Git [no]", "yes"],
    );
    expect(values).toEqual([
      "database.type=postgres",
      "database.existingSecret=fairway-database",
      "redis.existingSecret=our-redis",
      "image.registry=registry.example",
      "server.publicUrl=https://models.example.com",
      "gitops.enabled=true",
    ]);
    expect(rendered(values)).toContain("image: registry.example/fairway/gateway:");
  });

  test("needs no other server with SQLite", async () => {
    const values = await install(
      ["Database [mysql]", "sqlite"],
      ["holds the image [none]", ""],
      ["such as https://ai.example.com [none]", ""],
      ["from Git [no]", ""],
    );
    expect(values).toEqual(["database.type=sqlite", "redis.enabled=false", "replicaCount=1"]);
    expect(rendered(values)).toContain("kind: PersistentVolumeClaim");
  });

  test("asks nothing without a terminal, or where values are given", async () => {
    const { err } = await run(["kube", "install", "--chart", CHART, "--dry-run"], env());
    expect(err).toContain(`helm install fairway ${CHART} --namespace ai`);
    expect(err).not.toContain("Database");
    const terminal = openTerminal(["kube", "install", "--chart", CHART, "--set", "replicaCount=1", "--dry-run"], env());
    await terminal.sees("--set replicaCount=1");
    await terminal.exited;
    expect(terminal.shown).not.toContain("Database [");
  });
});
