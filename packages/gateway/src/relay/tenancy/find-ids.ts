import { listIdRules, type IdRule } from "../../dialects/client-ids.ts";
import { hasTwoSpellings } from "../../dialects/members.ts";
import type { DialectId, JsonObject, JsonValue } from "../../dialects/core/types.ts";
import { isObject } from "../../lib/text/json.ts";
import { snakeCase } from "../../lib/text/text.ts";

/** An id that the client sent, and where it is. */
export interface FoundId {
  readonly rule: IdRule;
  readonly value: string;
  /** The object that contains it, directly or in a list. */
  readonly owner: JsonObject;
  readonly path: readonly (string | number)[];
}

/** The members to look at in one object. */
interface Node {
  rule: IdRule | undefined;
  readonly children: Map<string, Node>;
}

const compiled = new Map<DialectId, Node>();

function getRuleTree(dialect: DialectId): Node {
  let tree = compiled.get(dialect);
  if (!tree) compiled.set(dialect, (tree = compile(listIdRules(dialect), hasTwoSpellings(dialect))));
  return tree;
}

function compile(rules: readonly IdRule[], isSpelledTwice: boolean): Node {
  const root: Node = { rule: undefined, children: new Map() };
  for (const rule of rules) {
    let at = root;
    for (const name of rule.path.split(".")) at = ensureChild(at, name, isSpelledTwice);
    at.rule = rule;
  }
  return root;
}

/** Returns the node of a name, created if it is missing; its second spelling leads to the same node. */
function ensureChild(node: Node, name: string, isSpelledTwice: boolean): Node {
  let child = node.children.get(name);
  if (child) return child;
  child = { rule: undefined, children: new Map() };
  node.children.set(name, child);
  if (isSpelledTwice) node.children.set(snakeCase(name), child);
  return child;
}

/** Returns the ids that a request names; undefined if there are none, and then only the path is allocated. */
export function findIds(dialect: DialectId, body: JsonObject): readonly FoundId[] | undefined {
  const walk = new IdWalk();
  walk.object(body, getRuleTree(dialect));
  return walk.found;
}

class IdWalk {
  found: FoundId[] | undefined;
  readonly #path: (string | number)[] = [];

  object(owner: JsonObject, { children }: Node): void {
    // A request has fewer members than a protocol.
    for (const name in owner) {
      const child = children.get(name);
      const value = owner[name];
      if (child === undefined || value === undefined || value === null) continue;
      this.#path.push(name);
      this.#value(value, owner, child);
      this.#path.pop();
    }
  }

  #value(value: JsonValue, owner: JsonObject, node: Node): void {
    if (Array.isArray(value)) {
      for (let at = 0; at < value.length; at++) {
        this.#path.push(at);
        this.#value(value[at] as JsonValue, owner, node);
        this.#path.pop();
      }
    } else if (isObject(value)) {
      if (node.rule?.treatment === "refused") this.#add("", owner, node.rule);
      else this.object(value, node);
    } else if (node.rule && typeof value !== "boolean" && value !== null) this.#add(String(value), owner, node.rule);
  }

  #add(value: string, owner: JsonObject, rule: IdRule): void {
    if (rule.treatment !== "refused" && (value === "" || rule.isId?.(value, owner) === false)) return;
    (this.found ??= []).push({ rule, value, owner, path: [...this.#path] });
  }
}

/** Returns the object with some values replaced or removed; everything off the path to them is shared. */
export function withValues(
  body: JsonObject,
  edits: readonly { readonly path: FoundId["path"]; readonly value: string | undefined }[],
): JsonObject {
  const edited = { ...body };
  const own = new Set<object>([edited]);
  for (const { path, value } of edits) {
    let at: JsonObject = edited;
    for (const name of path.slice(0, -1)) {
      const inner = at[name] as JsonObject;
      if (!own.has(inner)) {
        const copy = Array.isArray(inner) ? [...(inner as JsonValue[])] : { ...inner };
        own.add(copy);
        at[name] = copy as JsonValue;
      }
      at = at[name] as JsonObject;
    }
    const last = path.at(-1) as string | number;
    if (value === undefined) delete at[last];
    else at[last] = value;
  }
  return edited;
}
