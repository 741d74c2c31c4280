// Identity providers from the terminal, with a real provider in this process.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT_PASSWORD } from "@fairway/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startOidcServer, type OidcServer } from "@fairway/testkit/oidc-server";
import { parseJsonOutput, startRig, type Rig } from "./rig.ts";

let rig: Rig;
let oidc: OidcServer;
let folder: string;
const idp = (words: string, input = `${ROOT_PASSWORD}\n`) => rig.fairway(`idp ${words}`, input);
const write = async (name: string, text: string) => {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
};

beforeAll(async () => {
  rig = await startRig();
  folder = await mkdtemp(join(tmpdir(), "fairway-idp-"));
  oidc = await startOidcServer({ redirectUris: [`${rig.gateway.url}/oauth/acme`] });
});
afterAll(async () => {
  await oidc?.close();
  await rig?.stop();
  await rm(folder, { recursive: true, force: true });
});

test("a provider is added with a password and its test passes", async () => {
  const secret = await write("secret.txt", "client-1-secret\n");
  const flags = `--slug acme --name Acme --issuer ${oidc.issuer} --client-id client-1 --secret-file ${secret}`;
  const refused = await idp(`create ${flags} --password-stdin`, "wrong\n");
  expect(refused.code).not.toBe(0);
  const made = await idp(`create ${flags} --password-stdin`);
  expect(made).toMatchObject({ code: 0, err: expect.stringContaining("fairway idp test acme") as string });
  const tested = await rig.fairway("idp test acme");
  expect(tested.code).toBe(0);
  expect(tested.out).toMatch(/^client +passed/m);
  expect(tested.out).toMatch(/^address +warning .*set ServerAddress/m);
});

test("rules come from a file, and claims say what they would give", async () => {
  const rules = await write("rules.json", '[{"when": {"claim": "groups", "equals": "fw-admins"}, "role": "admin"}]');
  expect((await idp(`update acme --mapping-file ${rules} --password-stdin`)).code).toBe(0);
  const claims = '{"groups": ["fw-admins"]}\n';
  expect((await idp("test acme --claims-stdin", claims)).err).toContain("give the role admin (rule 1) and the group -");
  expect(parseJsonOutput(await idp("test acme --claims-stdin -o json", claims))).toMatchObject({
    mapping: { role: "admin", role_rule: 1 },
  });
  const wrong = await write("wrong.json", '[{"when": {"claim": "groups"}, "role": "root"}]');
  expect(await idp(`update acme --mapping-file ${wrong} --password-stdin`)).toMatchObject({
    code: 2,
    err: expect.stringContaining("rule 1 role") as string,
  });
  expect((await idp("test acme --claims-stdin", "[]\n")).code).toBe(2);
});

test("a test that fails says why, and what to do", async () => {
  const secret = await write("other.txt", "other");
  await idp(`update acme --secret-file ${secret} --password-stdin`);
  const failed = await idp("test acme");
  expect(failed).toMatchObject({ code: 1, err: expect.stringContaining("cannot work: client") as string });
  expect(failed.out).toContain("secrets expire there");
});

test("a token of the directory is printed once and works", async () => {
  const made = await idp("scim-token acme --password-stdin");
  const token = made.out.trim();
  expect(token).toMatch(/^fwsc_\w{43}$/);
  const read = () => fetch(`${rig.gateway.url}/scim/v2/acme/Users`, { headers: { authorization: `Bearer ${token}` } });
  expect((await read()).status).toBe(200);
  expect((await idp("scim-token acme --end --password-stdin")).code).toBe(0);
  expect((await read()).status).toBe(401);
  expect((await idp("delete acme --yes --password-stdin")).out).toMatch(/^ok +identity provider 1 +deleted$/m);
});
