// The example of a parent chart: it lints and renders, its parts fit together, and it refuses values without an effect.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { findHelm } from "@fairway/testkit/helm";
import { buildUmbrella, type Umbrella } from "./build-umbrella.ts";

interface Rendered {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: unknown;
}
interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
}
interface Pod {
  readonly template: {
    readonly spec: {
      readonly imagePullSecrets?: readonly object[];
      readonly containers: readonly [{ readonly image: string; readonly env: readonly Variable[] }];
    };
  };
}

const WITHOUT_REDIS = [
  "fairway.redis.enabled=false",
  "fairway.redis.url=",
  "fairway.redis.existingSecret=",
  "fairway.redis.existingSecretPasswordKey=",
];
const helm = findHelm();
let umbrella: Umbrella;
beforeAll(async () => {
  umbrella = await buildUmbrella(helm);
});
afterAll(() => umbrella?.remove());

const template = (...sets: string[]) =>
  umbrella.helm("template", "platform", umbrella.chart, "-n", "models", ...sets.flatMap((set) => ["--set", set]));

async function render(...sets: string[]): Promise<Rendered[]> {
  const documents = parseAllDocuments(await template(...sets));
  return documents.flatMap((document) => (document.toJS() as Rendered | null) ?? []);
}

function find(objects: readonly Rendered[], kind: string, name: string): Rendered {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name);
  if (!found) throw new Error(`the chart has no ${kind} ${name}`);
  return found;
}

function readContainer(object: Rendered) {
  return (object.spec as Pod).template.spec.containers[0];
}

const readVariable = (object: Rendered, name: string) =>
  readContainer(object).env.find((variable) => variable.name === name);

describe("deploy/umbrella", () => {
  it("passes the linter", async () => {
    expect(await umbrella.helm("lint", "--strict", umbrella.chart)).toContain("0 chart(s) failed");
  });

  it("connects Fairway with its servers: names, ports, accounts and Secrets are the same", async () => {
    const objects = await render();
    const fairway = find(objects, "Deployment", "platform-fairway");
    const [mariadb, redis] = [find(objects, "StatefulSet", "mariadb"), find(objects, "StatefulSet", "redis")];
    const url = new URL(readVariable(fairway, "FAIRWAY_DATABASE_URL")?.value ?? "");
    const ports = (name: string) => (find(objects, "Service", name).spec as { ports: { port: number }[] }).ports;
    expect(url.hostname).toBe("mariadb");
    expect(ports("mariadb")).toMatchObject([{ port: Number(url.port) }]);
    expect(url.pathname).toBe(`/${readVariable(mariadb, "MARIADB_DATABASE")?.value}`);
    expect(url.username).toBe(readVariable(mariadb, "MARIADB_USER")?.value);
    expect(readVariable(fairway, "FAIRWAY_DATABASE_PASSWORD")?.valueFrom).toEqual(
      readVariable(mariadb, "MARIADB_PASSWORD")?.valueFrom,
    );
    const store = new URL(readVariable(fairway, "FAIRWAY_REDIS_URL")?.value ?? "");
    expect(store.hostname).toBe("redis");
    expect(ports("redis")).toMatchObject([{ port: Number(store.port) }]);
    expect(readVariable(fairway, "FAIRWAY_REDIS_PASSWORD")?.valueFrom).toEqual(
      readVariable(redis, "REDIS_PASSWORD")?.valueFrom,
    );
    expect(JSON.stringify(find(objects, "Ingress", "platform-fairway").spec)).toContain("ai.example.com");
  });

  it("gives the registry of all charts to every image", async () => {
    const objects = await render("global.imageRegistry=mirror.example", "global.imagePullSecrets={mirror}");
    const pods = [
      find(objects, "Deployment", "platform-fairway"),
      find(objects, "StatefulSet", "mariadb"),
      find(objects, "StatefulSet", "redis"),
    ];
    for (const pod of pods) {
      expect(readContainer(pod).image).toMatch(/^mirror\.example\//);
      expect((pod.spec as Pod).template.spec.imagePullSecrets).toEqual([{ name: "mirror" }]);
    }
  });

  it("leaves out what is switched off", async () => {
    expect(await render("fairway.enabled=false")).toEqual([]);
    const own = await render(
      "mariadb.enabled=false",
      "fairway.database.host=db.internal",
      "redis.enabled=false",
      "fairway.redis.url=redis://cache.internal:6379/0",
    );
    expect(own.map(({ kind }) => kind)).not.toContain("StatefulSet");
  });

  it.each([
    [["fairway.database.host=elsewhere"], "mariadb.enabled starts a server that fairway.database does not name"],
    [["fairway.database.type=postgres"], "mariadb.enabled starts a server that fairway.database does not name"],
    [["fairway.database.port=3307"], "mariadb.enabled starts a server that fairway.database does not name"],
    [["mariadb.enabled=false"], "no server is called mariadb"],
    [
      ["fairway.database.existingSecret=", "fairway.database.existingSecretPasswordKey="],
      "mariadb takes its password from",
    ],
    [["fairway.redis.url=redis://elsewhere:6379/0"], "redis.enabled starts a server that fairway.redis does not use"],
    [[...WITHOUT_REDIS, "fairway.replicaCount=1"], "redis.enabled starts a server that fairway.redis does not use"],
    [["redis.enabled=false"], "no server is called redis"],
    [["fairway.redis.existingSecret=", "fairway.redis.existingSecretPasswordKey="], "redis takes its password from"],
    [["mariadb.sise=5Gi"], "sise"],
    [["mariadb.resources.limit.memory=1Gi"], "limit"],
    [["postgres.enabled=true"], "postgres"],
    [["fairway.replicas=3"], "replicas"],
    [["mariadb.size=much"], "size"],
  ])("refuses %s", async (sets, message) => {
    await expect(template(...sets)).rejects.toThrow(message);
  });
});
