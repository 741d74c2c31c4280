// `fairway token create --write-secret`: the key goes into a Secret of the cluster in the kubeconfig.
import { startPodServer, type PodServer } from "@fairway/testkit/pod-server";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { parseJsonOutput, parseRows, startRig, type Rig } from "./rig.ts";
import { run, type Finished } from "./terminal.ts";

let rig: Rig;
let cluster: PodServer;
beforeAll(async () => void ([rig, cluster] = await Promise.all([startRig(), startPodServer()])));
afterAll(() => Promise.all([rig?.stop(), cluster?.stop()]));
beforeEach(() => {
  cluster.objects.clear();
  cluster.forbidden.clear();
});

interface Secret {
  readonly type: string;
  readonly metadata: { readonly labels: Record<string, string>; readonly annotations: Record<string, string> };
  readonly data: Readonly<Record<string, string>>;
}

const SECRETS = "/api/v1/namespaces/ai/secrets";
const secret = () => cluster.objects.get(`${SECRETS}/search`) as Secret;
const keyIn = ({ data }: Secret) => Buffer.from(data["api-key"] ?? "", "base64").toString();
const create = (more = ""): Promise<Finished> => {
  const words = `token create --name search --write-secret ai/search${more}`;
  return run(words.split(" "), { ...rig.env, KUBECONFIG: cluster.kubeconfig });
};
const readTokenKey = async (id: unknown) => (await rig.fairway(`token key ${String(id)} -q`)).out.trim();
const count = async () => parseRows(await rig.fairway("token list -o jsonl")).length;

test("the Secret has the key, and nothing printed does", async () => {
  const made = await create();
  expect(made.code, made.err).toBe(0);
  expect(made.err).toMatch(/^Wrote key \d+, search, to the Secret ai\/search\.\n$/);
  expect(made.out).toBe("");
  const { type, metadata } = secret();
  expect(type).toBe("Opaque");
  expect(metadata.labels).toEqual({ "app.kubernetes.io/managed-by": "fairway-cli" });
  const id = metadata.annotations["fairway.dev/token-id"];
  expect(keyIn(secret())).toMatch(/^sk-\w+$/);
  expect(keyIn(secret())).toBe(await readTokenKey(id));
  const again = await create(" -o json");
  expect(parseJsonOutput(again)).toMatchObject({ kind: "TokenList", items: [{ name: "search" }] });
  for (const text of [made.err, again.out, again.err, (await create(" --debug")).err])
    expect(text).not.toContain(keyIn(secret()).slice(3));
  expect(secret().metadata.annotations["fairway.dev/token-id"]).not.toBe(id);
  expect(again.err).toContain(`Key ${id}, which it had before, stays valid: fairway token delete ${id}`);
});

test("a Secret that others made is left alone unless that is asked", async () => {
  const foreign = { metadata: { name: "search", resourceVersion: "7", labels: {} }, data: { password: "cGllcg==" } };
  cluster.objects.set(`${SECRETS}/search`, foreign);
  const before = await count();
  const refused = await create();
  expect(refused).toMatchObject({ code: 5, out: "" });
  expect(refused.err).toContain("the Secret ai/search was made by others and is left alone");
  expect(refused.err).toContain("--replace-secret");
  expect(secret()).toEqual(foreign);
  expect(await count()).toBe(before);
  expect((await create(" --replace-secret")).code).toBe(0);
  expect(secret().data["password"]).toBe("cGllcg==");
  expect(keyIn(secret())).toMatch(/^sk-/);
});

test("a key that no Secret takes is deleted again, and what is not allowed is said", async () => {
  const before = await count();
  cluster.forbidden.add(`POST ${SECRETS}`);
  const refused = await create();
  expect(refused.code).toBe(6);
  expect(refused.err).toMatch(/was not written, and the new key is deleted again: .* is forbidden/);
  cluster.forbidden.add(`GET ${SECRETS}/search`);
  expect((await create()).code).toBe(6);
  expect(await count()).toBe(before);
});

test("a rehearsal writes neither key nor Secret, and flags that do not go together are refused", async () => {
  const before = await count();
  const dry = await create(" --dry-run");
  expect(dry.code, dry.err).toBe(0);
  expect(dry.out).toMatch(/^POST http.*\/api\/token\/ /);
  expect(cluster.objects.size).toBe(0);
  for (const more of [" --show-key", " --count 2", ` --output-file ${rig.home}/key`])
    expect(await create(more)).toMatchObject({ code: 2, out: "" });
  expect((await rig.fairway("token create --name x --write-secret search")).err).toContain("ai/search-fairway");
  expect((await rig.fairway("token create --name x --replace-secret")).err).toContain("--write-secret NAMESPACE/NAME");
  expect(await count()).toBe(before);
});
