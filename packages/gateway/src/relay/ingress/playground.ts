import { exactJson } from "../../dialects/core/request-spec.ts";
import type { Body, Dialect, JsonObject, JsonValue } from "../../dialects/core/types.ts";
import { openaiChat } from "../../dialects/openai-chat/index.ts";
import { isObject } from "../../lib/text/json.ts";
import { jsonBody } from "../body/read-body.ts";

/** Members that playgrounds add to messages for their own use. */
const OWN_MEMBERS: ReadonlySet<string> = new Set(["id", "createAt", "createdAt", "status"]);

/**
 * The chat protocol for the playgrounds of consoles: they take each event for a chunk with choices, so a keep-alive is
 * an empty chunk instead of a comment, and an error has an empty list of choices.
 */
export const playgroundChat: Dialect = {
  ...openaiChat,
  errors: "openai-playground",
  heartbeat: Buffer.from(
    'data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":""},"finish_reason":null}]}\n\n',
  ),
};

/** Removes members that upstreams refuse: the console's own, its group, and 0 for "no limit". */
export function playgroundBody(body: Body): Body {
  const { group: _group, messages, ...rest } = exactJson(body);
  const sent = Object.entries(rest).filter(([name, value]) => !(name === "max_tokens" && value === 0));
  const clean: JsonObject = {
    ...Object.fromEntries(sent),
    ...(messages !== undefined && { messages: cleaned(messages) }),
  };
  return jsonBody(Buffer.from(JSON.stringify(clean)));
}

function cleaned(messages: JsonValue): JsonValue {
  if (!Array.isArray(messages)) return messages;
  return messages.map((message) =>
    isObject(message)
      ? Object.fromEntries(Object.entries(message).filter(([name]) => !OWN_MEMBERS.has(name)))
      : message,
  );
}
