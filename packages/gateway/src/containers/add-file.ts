import { invalidRequest } from "../lib/app-error.ts";
import { IDLE_MS, sendJson } from "../objects/object-call.ts";
import { requireQuota } from "../objects/quota.ts";
import { ReceivedForm } from "../objects/received-form.ts";
import { readSmallJson } from "../objects/small-json.ts";
import { readJson, type ObjectRequest } from "../objects/upstream.ts";
import { requireContainer, shownContainerError, type OwnContainer } from "./find-container.ts";
import { findNamedFiles, isSameAccount, refuseOtherAccount } from "./own-files.ts";
import type { ContainerCall, ContainerDeps } from "./types.ts";

const FORM = /^multipart\/form-data/i;

/** Adds a file to a container: one that the caller has uploaded before, or the bytes of a form. */
export async function addFile(id: string, call: ContainerCall, deps: ContainerDeps): Promise<void> {
  requireQuota(call.caller, deps.snapshots.current().options);
  const container = await requireContainer(id, call, deps);
  if (!FORM.test(call.request.headers["content-type"] ?? "")) {
    const { file_id: fileId } = await readSmallJson(call.request);
    return addStored(container, fileId, call, deps);
  }
  const place = deps.room.enter();
  let form: ReceivedForm | undefined;
  try {
    form = new ReceivedForm(call.request, place, { ...deps, idleMs: IDLE_MS });
    await form.readToEnd();
    const fileId = form.field("file_id");
    if (form.file === undefined && fileId !== undefined) return await addStored(container, fileId, call, deps);
    if (fileId !== undefined) throw invalidRequest("file_id", "Send file or file_id, not both.");
    form.check();
    const { contentType, size, body } = form.sendWhole();
    const headers = { "content-type": contentType, "content-length": String(size) };
    await send(container, { headers, body }, call, deps);
  } finally {
    form?.close();
    await place.leave();
  }
}

async function addStored(
  container: OwnContainer,
  fileId: unknown,
  call: ContainerCall,
  deps: ContainerDeps,
): Promise<void> {
  if (typeof fileId !== "string") throw invalidRequest("file_id", "file_id must be the id of a file.");
  const [file] = await findNamedFiles(fileId, "file_id", call, deps);
  const { channel, keyIndex } = container.account;
  if (!file || !isSameAccount(file, { channelId: channel.id, keyIndex }))
    throw refuseOtherAccount(fileId.slice(0, 100), container.id, "file_id");
  const body = Buffer.from(JSON.stringify({ file_id: file.sent }));
  await send(container, { headers: { "content-type": "application/json" }, body }, call, deps);
}

async function send(
  { id, account }: OwnContainer,
  { headers, body }: Pick<ObjectRequest, "headers" | "body">,
  call: ContainerCall,
  deps: ContainerDeps,
): Promise<void> {
  try {
    const answer = await deps.call(account, {
      method: "POST",
      below: `/${id}/files`,
      isContainer: true,
      ...(headers && { headers }),
      ...(body && { body }),
      signal: call.signal,
    });
    sendJson(call.response, await readJson(answer));
  } catch (error) {
    throw shownContainerError(error, id);
  }
}
