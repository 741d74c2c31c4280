import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDatabase } from "@fairway/testkit/databases";
import { stringify } from "yaml";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { recordingLog } from "../../../test/kit/support.ts";
import { channelDocument, optionDocument } from "./documents-kit.ts";
import { createDocumentFolder } from "./folder.ts";

let app: ManagementApp;
let folder: string;
let secretsDir: string;
let recorded: ReturnType<typeof recordingLog>;
let run: () => Promise<void>;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fairway-documents-"));
  secretsDir = await mkdtemp(join(tmpdir(), "fairway-secrets-"));
  app = await startManagementApp({ url: await createDatabase("sqlite"), secrets: { secretsDir, documentSecrets: {} } });
  recorded = recordingLog();
  const job = createDocumentFolder({ folder, documents: app.documents, database: app.database, log: recorded.log });
  run = () => job(new AbortController().signal, () => Promise.resolve());
});
afterEach(async () => {
  await app.close();
  await Promise.all([folder, secretsDir].map((path) => rm(path, { recursive: true })));
});

const write = async (file: string, ...documents: object[]) => {
  await mkdir(join(folder, file, ".."), { recursive: true });
  await writeFile(join(folder, file), documents.map((document) => stringify(document)).join("---\n"));
};
const channels = () => app.database.db.selectFrom("channels").select(["name", "weight"]).orderBy("name").execute();
const times = (text: string) => recorded.lines().split(text).length - 1;

test("applies, updates and deletes what mounted ConfigMaps describe", async () => {
  await write("chart/documents.yaml", channelDocument("a"), optionDocument("site", { SystemName: "Ours" }));
  await write("mine/b.yaml", channelDocument("b"));
  await write("mine/..data/b.yaml", channelDocument("hidden"));
  await run();
  expect(await channels()).toMatchObject([{ name: "a" }, { name: "b" }]);
  expect(app.snapshots.current().options.SystemName).toBe("Ours");
  await write("mine/b.yaml", channelDocument("b", { weight: 7 }));
  await run();
  expect(await channels()).toMatchObject([{ name: "a" }, { name: "b", weight: 7 }]);
  await rm(join(folder, "mine"), { recursive: true });
  await run();
  expect(await channels()).toMatchObject([{ name: "a" }]);
  const lines = times("a document was applied");
  await run();
  expect(times("a document was applied")).toBe(lines);
});

test("corrects what was changed elsewhere", async () => {
  await write("a.yaml", channelDocument("a", { weight: 3 }));
  await run();
  await app.database.db.updateTable("channels").set({ weight: 9 }).execute();
  await run();
  expect(await channels()).toMatchObject([{ weight: 3 }]);
});

test("deletes nothing while a file cannot be read, and says why once", async () => {
  await write("a.yaml", channelDocument("a"));
  await write("b.yaml", channelDocument("b"));
  await run();
  await writeFile(join(folder, "b.yaml"), "spec: [unclosed");
  await write("c.yaml", channelDocument("c", { colour: "red" }));
  await run();
  await run();
  expect(await channels()).toMatchObject([{ name: "a" }, { name: "b" }]);
  expect(times("a file of documents is not used")).toBe(2);
  expect(recorded.lines()).toContain("colour");
});

test("refuses to delete most documents at once", async () => {
  for (const name of ["a", "b", "c", "d"]) await write(`${name}.yaml`, channelDocument(name));
  await run();
  for (const name of ["a", "b", "c"]) await rm(join(folder, `${name}.yaml`));
  await run();
  await run();
  expect(await channels()).toHaveLength(4);
  expect(times("the documents are not applied")).toBe(1);
});

test("applies the others when one cannot be used, and a Secret when it arrives", async () => {
  const from = { key: undefined, credentialsFrom: { secretKeyRef: { name: "openai", key: "api-key" } } };
  await write("a.yaml", channelDocument("a", from), channelDocument("b", { type: "no-such-type" }));
  await run();
  expect(await channels()).toMatchObject([{ name: "a" }]);
  expect(times("a document is refused")).toBe(1);
  expect(recorded.lines()).toContain("not found: Secret openai, key api-key");
  await mkdir(join(secretsDir, "openai"));
  await writeFile(join(secretsDir, "openai", "api-key"), "sk-canary");
  await run();
  const [{ id } = { id: 0 }] = await app.database.db.selectFrom("channels").select("id").execute();
  expect(await app.operations.channels.store.findKey(id)).toBe("sk-canary");
  expect(recorded.lines()).not.toContain("canary");
});
