import { AppError, invalidRequest } from "../lib/app-error.ts";
import { isObjectId } from "../objects/ids.ts";
import { sendJson } from "../objects/object-call.ts";
import { unknownFile } from "../objects/library.ts";
import { readCount } from "../objects/shapes/page-token.ts";
import { whileRunning } from "../objects/while-running.ts";
import { readQuery, type RouteArrival } from "../relay/ingress/route-arrival.ts";
import { addFile } from "./add-file.ts";
import { createContainer } from "./create.ts";
import { deleteContainer, forwardFiles, showContainer } from "./forward.ts";
import { readUnseen } from "./minted.ts";
import type { ContainerCall, ContainerDeps } from "./types.ts";
import { viewList } from "./view.ts";

/** Answers the routes of containers; throws AppError. */
export type ContainerHandler = (arrival: RouteArrival) => Promise<void>;

const PATH = /^\/v1\/containers(?:\/([^/]+)(\/files(?:\/([^/]+)(\/content)?)?)?)?$/;

export function createContainerHandler(deps: ContainerDeps): ContainerHandler {
  return async (arrival) => {
    const { request, requestId, ip } = arrival;
    const caller = await deps.authenticator.byKey(request, ip);
    const query = readQuery(request);
    try {
      await deps.calls.take(requestId, caller.userId);
      await whileRunning(arrival, deps, (signal) =>
        serve({ ...arrival, query, dialect: "openai", caller, signal }, deps),
      );
    } catch (error) {
      throw AppError.of(error, caller);
    }
  };
}

async function serve(call: ContainerCall, deps: ContainerDeps): Promise<void> {
  const { method, path, response } = call;
  const [, id, files, fileId, content] = PATH.exec(path) ?? [];
  const isContent = content !== undefined;
  requireMethod(call, listMethods({ id, files, fileId, isContent }));
  if (id === undefined) {
    if (method === "GET") return listContainers(call, deps);
    return sendJson(response, await createContainer(call, deps));
  }
  if (files === undefined) return method === "GET" ? showContainer(id, call, deps) : deleteContainer(id, call, deps);
  if (fileId !== undefined && !isObjectId(fileId)) throw unknownFile(fileId, "file_id");
  if (method === "POST") return addFile(id, call, deps);
  return forwardFiles(id, { method: method === "DELETE" ? "DELETE" : "GET", fileId, isContent }, call, deps);
}

interface Asked {
  readonly id: string | undefined;
  readonly files: string | undefined;
  readonly fileId: string | undefined;
  readonly isContent: boolean;
}

function listMethods({ id, files, fileId, isContent }: Asked): readonly string[] {
  if (isContent) return ["GET"];
  const isCollection = id === undefined || (files !== undefined && fileId === undefined);
  return isCollection ? ["GET", "POST"] : ["GET", "DELETE"];
}

function requireMethod({ method, path, response }: ContainerCall, allowed: readonly string[]): void {
  if (allowed.includes(method)) return;
  response.setHeader("allow", allowed.join(", "));
  throw new AppError("method_not_allowed", { values: { method, path: path.slice(0, 200) } });
}

const MAX_PAGE = 100;
const USUAL_PAGE = 20;

/** Lists from the table: an upstream's list would show the containers of other users too. */
async function listContainers({ query, caller, response, signal }: ContainerCall, deps: ContainerDeps): Promise<void> {
  const order = query.get("order") ?? "desc";
  if (order !== "asc" && order !== "desc") throw invalidRequest("order", "order must be asc or desc.");
  const limit = readCount(query.get("limit"), "limit", { max: MAX_PAGE, fallback: USUAL_PAGE });
  const viewer = deps.library.viewAs(caller);
  const afterId = query.get("after");
  const after = afterId === null ? undefined : await deps.store.find(afterId, viewer);
  if (afterId !== null && after?.kind !== "container")
    throw invalidRequest("after", "The list begins after an id that does not exist.");
  const request = { kind: "container", dialect: "openai", isAscending: order === "asc", limit, after } as const;
  await deps.minted.flush();
  const { objects, hasMore } = await deps.store.list(viewer, request);
  sendJson(response, viewList({ objects: await readUnseen(objects, signal, deps), hasMore }));
}
