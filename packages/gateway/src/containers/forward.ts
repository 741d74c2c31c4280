import { pipeline } from "node:stream/promises";
import type { JsonObject } from "../dialects/core/types.ts";
import { AppError } from "../lib/app-error.ts";
import { findAccount } from "../objects/account.ts";
import { deleteAt, isMissing } from "../objects/library.ts";
import { sendJson } from "../objects/object-call.ts";
import { readJson } from "../objects/upstream.ts";
import { requireContainer, shownContainerError } from "./find-container.ts";
import type { ContainerCall, ContainerDeps } from "./types.ts";
import { readContainer } from "./view.ts";

/** Shows a container as its upstream does. */
export async function showContainer(id: string, call: ContainerCall, deps: ContainerDeps): Promise<void> {
  const { account, object } = await requireContainer(id, call, deps);
  try {
    const request = { method: "GET", below: `/${id}`, isContainer: true, signal: call.signal } as const;
    const answer = (await readJson(await deps.call(account, request))) as JsonObject;
    // Lists show what was seen last.
    if (object) await deps.store.change(object, { facts: readContainer(answer).facts });
    sendJson(call.response, answer);
  } catch (error) {
    if (object && isMissing(error)) await deps.store.change(object, { state: "failed" });
    throw shownContainerError(error, id);
  }
}

/** Deletes a container where it is, then what is known of it; one whose account no longer exists is only forgotten. */
export async function deleteContainer(id: string, call: ContainerCall, deps: ContainerDeps): Promise<void> {
  const { caller, signal } = call;
  // The row of a container that an answer has just named must not be written after its deletion.
  await deps.minted.flush();
  const lost = await findLost(id, call, deps);
  const container = lost ? undefined : await requireContainer(id, call, deps);
  if (container)
    try {
      await deleteAt(container.account, { kind: "container", upstreamId: id }, { call: deps.call, signal });
    } catch (error) {
      if (!container.object || !isMissing(error)) throw shownContainerError(error, id);
    }
  const object = lost ?? container?.object;
  if (object) await deps.store.remove(object);
  await deps.owners.forget(id, caller.userId);
  deps.minted.forget(id, caller.userId);
  sendJson(call.response, { id, object: "container.deleted", deleted: true });
}

async function findLost(id: string, { caller }: ContainerCall, { store, library, snapshots, hashKey }: ContainerDeps) {
  const object = await store.find(id, library.viewAs(caller));
  if (object?.kind !== "container") return undefined;
  return findAccount(snapshots.current().channels, object, hashKey) ? undefined : object;
}

/** Members of a query that lists of files understand. */
const QUERY = ["limit", "order", "after"];

/** A call about the files of a container. */
interface FileCall {
  readonly method: "GET" | "DELETE";
  readonly fileId: string | undefined;
  readonly isContent: boolean;
}

/** Passes a call about the files of a container on to its account. */
export async function forwardFiles(
  id: string,
  { method, fileId, isContent }: FileCall,
  call: ContainerCall,
  deps: ContainerDeps,
): Promise<void> {
  const { account } = await requireContainer(id, call, deps);
  const one = fileId === undefined ? "" : `/${fileId}`;
  const query = Object.fromEntries(
    QUERY.flatMap((name) => {
      const value = fileId === undefined ? call.query.get(name) : null;
      return value === null ? [] : [[name, value]];
    }),
  );
  try {
    const answer = await deps.call(account, {
      method,
      below: `/${id}/files${one}${isContent ? "/content" : ""}`,
      query,
      isContainer: true,
      ...(isContent && { headers: { accept: "*/*" } }),
      signal: call.signal,
    });
    await sendOn(answer, isContent, call);
  } catch (error) {
    throw shownContainerError(error, id, fileId);
  }
}

async function sendOn(
  { headers, body }: Awaited<ReturnType<ContainerDeps["call"]>>,
  isContent: boolean,
  { response, signal }: ContainerCall,
): Promise<void> {
  for (const name of ["content-type", "content-length"]) {
    const value = headers[name];
    if (value !== undefined) response.setHeader(name, value);
  }
  // A page of the gateway's own address must never run what a model has written.
  response.setHeader("x-content-type-options", "nosniff");
  if (isContent) response.setHeader("content-disposition", "attachment");
  response.writeHead(200);
  await pipeline(body, response).catch((cause: unknown) => {
    throw signal.aborted ? signal.reason : new AppError("upstream_stream_interrupted", { cause });
  });
}
