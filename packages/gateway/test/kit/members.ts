import type { ManagementApp } from "./management-app.ts";
import { ROOT_PASSWORD } from "./management-app.ts";
import type { ApiCaller, ApiReply } from "./api-caller.ts";

/** The three roles, signed in. */
export interface Members {
  readonly root: ApiCaller;
  readonly admin: ApiCaller;
  readonly user: ApiCaller;
}

/** Makes an administrator `boss` and a user `ann` and signs all three in. */
export async function signInMembers(app: ManagementApp): Promise<Members> {
  const root = await app.signIn("root");
  for (const username of ["boss", "ann"]) {
    await root.data(root.post("/api/user/", { username, password: ROOT_PASSWORD, display_name: username }));
  }
  const boss = await app.database.db
    .selectFrom("users")
    .select("id")
    .where("username", "=", "boss")
    .executeTakeFirstOrThrow();
  await root.data(root.post("/api/user/manage", { id: boss.id, action: "promote" }));
  return { root, admin: await app.signIn("boss"), user: await app.signIn("ann") };
}

/** Changes options through the API, as the settings page does. */
export async function setOptions(root: ApiCaller, options: Readonly<Record<string, string>>): Promise<void> {
  for (const [key, value] of Object.entries(options)) await root.data(root.put("/api/option/", { key, value }));
}

/** Writes options to the database, as before a start: no call checks them. */
export async function storeOptions(app: ManagementApp, options: Readonly<Record<string, string>>): Promise<void> {
  for (const [key, value] of Object.entries(options)) {
    await app.database.db.deleteFrom("options").where("key", "=", key).execute();
    await app.database.db.insertInto("options").values({ key, value }).execute();
  }
  await app.snapshots.refresh();
}

/** Code and text of a refusal; the whole body when the call was a success. */
export async function readRefusal(reply: Promise<ApiReply>): Promise<unknown> {
  const { status, body } = await reply;
  return body["success"] === false ? [status, body["code"], body["message"]] : body;
}

/** The code alone, where the text is checked elsewhere. */
export async function readCode(reply: Promise<ApiReply>): Promise<unknown> {
  return (await reply).body["code"];
}
