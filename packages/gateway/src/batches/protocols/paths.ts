import type { BatchPath, BatchProtocol } from "./protocol.ts";

/** Returns the path of one batch below the path of their list. */
export function buildPath(list: string, method: BatchPath["method"], id: string, rest = ""): BatchPath {
  return { method, path: `${list}/${encodeURIComponent(id)}${rest}` };
}

/** Returns the paths that all protocols have alike; `pageSize` is the most that a page of the list may hold. */
export function buildCommonPaths(
  list: string,
  pageSize: number,
): Pick<ReturnType<BatchProtocol["paths"]>, "create" | "list" | "read" | "cancel"> {
  return {
    create: () => ({ method: "POST", path: list }),
    list: () => ({ method: "GET", path: `${list}?limit=${pageSize}` }),
    read: (id) => buildPath(list, "GET", id),
    cancel: (id) => buildPath(list, "POST", id, "/cancel"),
  };
}
