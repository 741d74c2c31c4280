import { describe, expect, it } from "vitest";
import { FEATURES } from "../../src/dialects/bridges/features.ts";
import { text } from "../../src/dialects/core/read.ts";
import { wantsBackground } from "../../src/dialects/core/request-spec.ts";
import { vendorExtras } from "../../src/dialects/core/vendor-extras.ts";
import type { Body, Dialect, DialectId, JsonObject, Operation } from "../../src/dialects/core/types.ts";
import { dialectById, dialects } from "../../src/dialects/index.ts";
import { hasTwoSpellings, listDialectMembers, type Members } from "../../src/dialects/members.ts";
import { matchRoute } from "../../src/relay/ingress/routes.ts";
import { loadVectors } from "../vectors/load.ts";

/** JSON that writes down the members that are read of it by name. What is copied or written out is not read. */
function watched<T extends object>(value: T, path: string, reads: Set<string>): T {
  let isCopied = false;
  const inside = (name: string) => (Array.isArray(value) ? path : path === "" ? name : `${path}.${name}`);
  return new Proxy(value, {
    get(target, name, receiver): unknown {
      const member: unknown = Reflect.get(target, name, receiver);
      if (name === "toJSON") isCopied = true;
      if (isCopied || typeof name === "symbol") return member;
      if (!Array.isArray(target)) reads.add(inside(name));
      return typeof member === "object" && member !== null ? watched(member, inside(name), reads) : member;
    },
    ownKeys(target) {
      isCopied ||= !Array.isArray(target);
      return Reflect.ownKeys(target);
    },
  });
}

function collectReads(
  dialect: Dialect,
  json: JsonObject,
  operation: Operation,
  pathModel: string | undefined,
): Set<string> {
  const reads = new Set<string>();
  const body: Body = { bytes: Buffer.from(JSON.stringify(json)), json: () => watched(json, "", reads) };
  const spec = dialect.inspect(body, operation, pathModel);
  dialect.promptTexts(body);
  dialect.promptWords(body);
  vendorExtras(body, spec);
  wantsBackground(body.json());
  dialect.retarget(body, { ...spec, stream: true }, "another", { askUsage: true });
  return reads;
}

/** Members that were read but are not listed for the protocol. */
function unlisted(reads: ReadonlySet<string>, dialect: DialectId): string[] {
  return [...reads].filter((path) => {
    let at: Members | undefined = listDialectMembers(dialect);
    for (const name of path.split("."))
      at = at && (at[name] ?? (hasTwoSpellings(dialect) ? at[camel(name)] : undefined));
    return at === undefined;
  });
}

function camel(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

describe("members that the gateway reads", () => {
  const requests = loadVectors().flatMap(({ client }) => {
    const path = text(client, "path")?.split("?")[0] ?? "";
    const match = matchRoute("POST", path);
    const body = client?.["body"];
    if (match.kind !== "relay" || typeof body !== "object" || body === null || Array.isArray(body)) return [];
    return [{ match, body: body as JsonObject }];
  });

  it("are in the list of their protocol, in every recorded request", () => {
    expect(requests.length).toBeGreaterThan(80);
    const found = requests.flatMap(({ match, body }) => {
      const dialect = dialectById(match.dialect) as Dialect;
      const reads = collectReads(dialect, body, match.operation, match.pathModel);
      return unlisted(reads, match.dialect).map((path) => `${match.dialect} reads ${path}`);
    });
    expect([...new Set(found)]).toEqual([]);
  });

  it("are in the list of chat, for every feature", () => {
    const chat = dialectById("openai-chat") as Dialect;
    const found = FEATURES.flatMap(({ sample }) => {
      const body = { model: "m", messages: [{ role: "user", content: "hi" }], ...sample };
      return unlisted(collectReads(chat, body, "chat", undefined), "openai-chat");
    });
    expect([...new Set(found)]).toEqual([]);
  });

  it.each(dialects.map(({ id }) => id))("are known for %s", (id) => {
    expect(Object.keys(listDialectMembers(id))).toContain("model");
  });
});
