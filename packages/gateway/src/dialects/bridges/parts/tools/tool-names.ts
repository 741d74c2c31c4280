// Vendors disagree on the names that tools may have. A name that the upstream would refuse is replaced by another one,
// which is the same in every request because histories hold it too. Answers have the client's own name again.
import { createHash } from "node:crypto";
import { isObject, object, objects, text } from "../../../core/read.ts";
import type { Bridge, ToolNameRule } from "../../../core/bridge.ts";
import type { DialectId, JsonObject, StreamEvent } from "../../../core/types.ts";

const PLAIN: ToolNameRule = { most: 64, forbidden: /[^a-zA-Z0-9_-]/g, first: /^[a-zA-Z0-9_-]/ };
const RULES: Partial<Record<DialectId, ToolNameRule>> = {
  "anthropic-messages": { ...PLAIN, most: 128 },
  "gemini-generate": { most: 64, forbidden: /[^a-zA-Z0-9_.:-]/g, first: /^[a-zA-Z_]/ },
};
const DIGEST = 8;

/** A bridge to the upstream, or only its dialect. */
type ToolNameUpstream = Pick<Bridge, "upstream" | "toolNames">;

/** Returns a tool's name in a form that upstreams of the dialect take; the same name if they take it as it is. */
export function toolNameFor(upstream: ToolNameUpstream, name: string): string {
  const { most, forbidden, first } = upstream.toolNames ?? RULES[upstream.upstream] ?? PLAIN;
  const clean = name.replaceAll(forbidden, "_");
  const begun = first.test(clean) ? clean : `_${clean}`;
  if (begun === name && name.length <= most) return name;
  const digest = createHash("sha256").update(name).digest("hex").slice(0, DIGEST);
  return `${begun.slice(0, most - DIGEST - 1)}_${digest}`;
}

/** Renames the tools of a bridge into chat for `upstream`, which may be another bridge that follows. */
export function renameToolsIntoChat(bridge: Bridge, upstream: ToolNameUpstream): Bridge {
  return {
    ...bridge,
    begin(context) {
      const inner = bridge.begin(context);
      let names = NO_NAMES;
      return {
        request(body) {
          const renamed = forUpstream(inner.request(body), upstream);
          ({ names } = renamed);
          return renamed.sent;
        },
        response: (body) => inner.response(forClient(body, names)),
        stream() {
          const stream = inner.stream();
          if (names.size === 0) return stream;
          return { event: (event) => stream.event(ownNames(event, names)), end: (counted) => stream.end(counted) };
        },
      };
    },
  };
}

/** Renames the tools of a bridge out of chat, for chat clients. */
export function renameToolsFromChat(bridge: Bridge): Bridge {
  return {
    ...bridge,
    begin(context) {
      const inner = bridge.begin(context);
      let names = NO_NAMES;
      return {
        request(body) {
          const renamed = forUpstream(body, bridge);
          ({ names } = renamed);
          return inner.request(renamed.sent);
        },
        response: (body) => forClient(inner.response(body), names),
        stream() {
          const stream = inner.stream();
          if (names.size === 0) return stream;
          const restore = (events: StreamEvent[]) => events.map((event) => ownNames(event, names));
          return { event: (event) => restore(stream.event(event)), end: (counted) => restore(stream.end(counted)) };
        },
      };
    },
  };
}

/** The client's own names of tools by sent names; empty if none was changed. */
type OwnNames = ReadonlyMap<string, string>;
const NO_NAMES: OwnNames = new Map();

function forUpstream(body: JsonObject, upstream: ToolNameUpstream): { sent: JsonObject; names: OwnNames } {
  const names = new Map<string, string>();
  const rename = (name: string) => {
    const sent = toolNameFor(upstream, name);
    if (sent !== name) names.set(sent, name);
    return sent;
  };
  const changed = requestNames(body, rename);
  return { sent: names.size === 0 ? body : changed, names };
}

function forClient(body: JsonObject, names: OwnNames): JsonObject {
  return names.size === 0 ? body : answerNames(body, names);
}

function ownNames(event: StreamEvent, names: OwnNames): StreamEvent {
  return event.data === undefined ? event : { ...event, data: answerNames(event.data, names) };
}

type Rename = (name: string) => string;

function requestNames(body: JsonObject, rename: Rename): JsonObject {
  return eachIn(body, {
    tools: (tool) => callNames(tool, rename),
    functions: (tool) => renameTarget(tool, rename),
    messages: (message) => messageNames(message, rename),
    tool_choice: (choice) => choiceNames(choice, rename),
    function_call: (choice) => renameTarget(choice, rename),
  });
}

function choiceNames(choice: JsonObject, rename: Rename): JsonObject {
  const allowed = object(choice, "allowed_tools");
  const direct = callNames(choice, rename);
  if (!allowed) return direct;
  const tools = objects(allowed, "tools").map((tool) => callNames(tool, rename));
  return { ...direct, allowed_tools: { ...allowed, tools } };
}

/** Renames the tool in a tool message; `name` in other messages is that of a participant. */
function messageNames(message: JsonObject, rename: Rename): JsonObject {
  const role = text(message, "role");
  const calls = eachIn(message, {
    tool_calls: (call) => callNames(call, rename),
    function_call: (call) => renameTarget(call, rename),
  });
  return role === "tool" || role === "function" ? renameTarget(calls, rename) : calls;
}

function answerNames(answer: JsonObject, names: OwnNames): JsonObject {
  const rename = (name: string) => names.get(name) ?? name;
  const part = (piece: JsonObject) => messageNames(piece, rename);
  return eachIn(answer, { choices: (choice) => eachIn(choice, { message: part, delta: part }) });
}

/** Renames a tool, a call or a choice, whose name is inside the member of its kind. */
function callNames(call: JsonObject, rename: Rename): JsonObject {
  const inner = (target: JsonObject) => renameTarget(target, rename);
  return eachIn(call, { function: inner, custom: inner });
}

function renameTarget(target: JsonObject, rename: Rename): JsonObject {
  const name = text(target, "name");
  return name === undefined || name === "" ? target : { ...target, name: rename(name) };
}

/** Returns a copy with changes to members that are objects or lists of objects. */
function eachIn(body: JsonObject, changes: Readonly<Record<string, (member: JsonObject) => JsonObject>>): JsonObject {
  let copy: JsonObject | undefined;
  for (const [name, change] of Object.entries(changes)) {
    const member = body[name];
    if (member === undefined || member === null) continue;
    copy ??= { ...body };
    if (Array.isArray(member)) copy[name] = member.map((item) => (isObject(item) ? change(item) : item));
    else if (isObject(member)) copy[name] = change(member);
  }
  return copy ?? body;
}
