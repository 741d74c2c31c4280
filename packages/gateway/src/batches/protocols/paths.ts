import { isObject, list as readMembers } from "../../dialects/core/read.ts";
import type { BatchForm, BatchSupport } from "../../providers/core/batches.ts";
import type { BatchPath, BatchProtocol } from "./protocol.ts";

/** Returns the path of one batch below the path of their list, whose query it keeps. */
export function buildPath(list: string, method: BatchPath["method"], id: string, rest = ""): BatchPath {
  const [path = "", query] = list.split("?");
  const one = `${path}/${encodeURIComponent(id)}${rest}`;
  return { method, path: query === undefined ? one : `${one}?${query}` };
}

/** Returns the paths that all protocols have alike; `pageSize` is the most that a page of the list may hold. */
export function buildCommonPaths(
  { path: list, form }: Pick<BatchSupport, "path" | "form">,
  pageSize: number,
): Pick<ReturnType<BatchProtocol["paths"]>, "create" | "list" | "read" | "cancel"> {
  const one = form && { translate: (json: unknown) => (isObject(json) ? form.readBatch(json) : json) };
  const many = form && { translate: (json: unknown) => translateList(json, form) };
  const parameter = form ? form.pageParameter : "limit";
  const page = parameter === undefined ? "" : `${list.includes("?") ? "&" : "?"}${parameter}=${pageSize}`;
  return {
    create: () => ({ method: "POST", path: list, ...one }),
    list: () => ({ method: "GET", path: `${list}${page}`, ...many }),
    read: (id) => ({ ...buildPath(list, "GET", id), ...one }),
    cancel: (id) => ({ ...buildPath(list, "POST", id, "/cancel"), ...one }),
  };
}

function translateList(json: unknown, form: BatchForm): unknown {
  const batches: readonly unknown[] = Array.isArray(json) ? json : isObject(json) ? readMembers(json, "data") : [];
  return { data: batches.filter(isObject).map((batch) => form.readBatch(batch)) };
}
