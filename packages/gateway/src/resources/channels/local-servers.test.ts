import { createDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startPlain } from "../../../test/import/recorded-gateway.ts";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { readCode, signInMembers, type Members } from "../../../test/kit/members.ts";
import type { ProviderAdapter } from "../../providers/core/types.ts";
import { allProviders } from "../../providers/registry.ts";

const places = new Map<number, { name: string; address: string }[]>();
const providers = allProviders.map((provider): ProviderAdapter => {
  if (!provider.localServers) return provider;
  return Object.defineProperty({ ...provider }, "localServers", { get: () => places.get(provider.type) ?? [] });
});

let app: ManagementApp;
let members: Members;
beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite"), operations: { providers } });
  members = await signInMembers(app);
});
afterAll(() => app.close());

test("servers that run on this machine are found with their models, others are not", async () => {
  const ollama = await startPlain((path) => (path === "/api/tags" ? { models: [{ name: "llama3:8b" }] } : undefined));
  const other = await startPlain(() => ({ page: "of another program" }));
  places.set(4, [{ name: "Ollama", address: ollama.address }]);
  places.set(1005, [
    { name: "LM Studio", address: other.address },
    { name: "llama.cpp", address: "http://127.0.0.1:9" },
  ]);
  expect(await members.admin.data(members.admin.get("/api/channel/local_servers"))).toEqual([
    { name: "Ollama", type: 4, base_url: ollama.address, models: ["llama3:8b"] },
  ]);
  expect(await readCode(members.user.get("/api/channel/local_servers"))).toBe("AU7");
});

test("the usual addresses are those of this machine", () => {
  const known = allProviders.flatMap(({ localServers = [] }) => localServers);
  expect(known.map(({ name }) => name)).toEqual(["Ollama", "LM Studio", "llama.cpp"]);
  for (const { address } of known) expect(new URL(address).hostname).toBe("localhost");
});
