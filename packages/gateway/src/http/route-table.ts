import { findCallRights, type Access, type Method } from "@fairway/wire";
import type { Route } from "./endpoint.ts";
import { decodePercent } from "../lib/text/percent-encoding.ts";

const ACCESSES: ReadonlySet<string> = new Set<Access>(["none", "try", "user", "admin", "root", "key"]);
/** Access levels that identify the caller: an access token needs a scope for them. */
const GUARDED: ReadonlySet<string> = new Set<Access>(["try", "user", "admin", "root"]);

export interface Found {
  /** Routes that share method and path, the one with the narrower query first. */
  readonly routes: readonly Route[];
  readonly params: Readonly<Record<string, string>>;
}

export interface RouteTable {
  /** `path` is without query; one trailing slash makes no difference. */
  find(method: string, path: string): Found | undefined;
  /** True if some route of the path may be read from other origins. */
  isCrossOrigin(path: string): boolean;
}

interface Node {
  readonly children: Map<string, Node>;
  parameter: { readonly name: string; readonly node: Node } | undefined;
  readonly methods: Map<Method, Route[]>;
}

/** Builds the lookup of all routes; a route that has no permission or is implemented twice prevents the start. */
export function createRouteTable(routes: readonly Route[]): RouteTable {
  const root = emptyNode();
  const names = new Set<string>();
  for (const route of routes) {
    const { name } = route.endpoint;
    if (names.has(name)) throw new Error(`endpoint ${name} is implemented twice`);
    names.add(name);
    insert(root, route);
  }
  finish(root);
  return {
    find: (method, path) => find(root, method, path),
    isCrossOrigin: (path) =>
      [...(locate(root, path)?.node.methods.values() ?? [])].flat().some((route) => route.endpoint.isCrossOrigin),
  };
}

function emptyNode(): Node {
  return { children: new Map(), parameter: undefined, methods: new Map() };
}

function insert(root: Node, route: Route): void {
  const { name, method, path, access } = route.endpoint;
  if (!ACCESSES.has(access)) throw new Error(`endpoint ${name} names no permission`);
  if (GUARDED.has(access) && !findCallRights(route.endpoint))
    throw new Error(`endpoint ${name} is missing in the table of rights`);
  let node = root;
  for (const segment of segments(path)) node = step(node, segment, name);
  const same = node.methods.get(method) ?? [];
  node.methods.set(method, [...same, route]);
}

function step(node: Node, segment: string, endpointName: string): Node {
  const parameter = /^\{(\w+)\}$/.exec(segment)?.[1];
  if (parameter === undefined) {
    const next = node.children.get(segment) ?? emptyNode();
    node.children.set(segment, next);
    return next;
  }
  node.parameter ??= { name: parameter, node: emptyNode() };
  if (node.parameter.name !== parameter) {
    throw new Error(
      `endpoint ${endpointName} calls a path parameter {${parameter}} that is {${node.parameter.name}} elsewhere`,
    );
  }
  return node.parameter.node;
}

/** Orders the routes that share method and path, and refuses those that cannot be distinguished. */
function finish(node: Node): void {
  for (const routes of node.methods.values()) {
    routes.sort((a, b) => Number(takesAnyQuery(a)) - Number(takesAnyQuery(b)));
    const [first, second] = routes;
    if (first && second && (takesAnyQuery(first) || routes.filter(takesAnyQuery).length > 1)) {
      throw new Error(`endpoints ${first.endpoint.name} and ${second.endpoint.name} answer the same calls`);
    }
    const mixed = routes.find((route) => route.endpoint.access !== first?.endpoint.access);
    if (mixed) throw new Error(`endpoint ${mixed.endpoint.name} shares its path with another permission`);
  }
  for (const child of node.children.values()) finish(child);
  if (node.parameter) finish(node.parameter.node);
}

function takesAnyQuery(route: Route): boolean {
  return route.endpoint.query === undefined || route.endpoint.query.safeParse({}).success;
}

function find(root: Node, method: string, path: string): Found | undefined {
  const located = locate(root, path);
  if (!located) return undefined;
  const routes = located.node.methods.get((method === "HEAD" ? "GET" : method) as Method);
  if (!routes || (method === "HEAD" && routes.some((route) => route.endpoint.hasEffects))) return undefined;
  return { routes, params: located.params };
}

/** A literal segment always wins over a parameter. */
function locate(root: Node, path: string): { node: Node; params: Record<string, string> } | undefined {
  const params = Object.create(null) as Record<string, string>;
  let node = root;
  for (const segment of segments(path)) {
    const literal = node.children.get(segment);
    if (literal) {
      node = literal;
      continue;
    }
    const value = node.parameter ? decodePercent(segment) : undefined;
    if (!node.parameter || value === undefined || value === "") return undefined;
    params[node.parameter.name] = value;
    node = node.parameter.node;
  }
  return { node, params };
}

function segments(path: string): string[] {
  return (path.endsWith("/") ? path.slice(1, -1) : path.slice(1)).split("/");
}
