import { objects, text } from "../../../core/read.ts";
import type { JsonObject } from "../../../core/types.ts";
import { isSealedDetails } from "./sealed-details.ts";
import { isSealedSignature } from "./sealed-signatures.ts";
import { isSealedReasoning } from "./sealed-reasoning.ts";

/**
 * Thinking blocks in Anthropic's words, signatures byte for byte. They travel as `fw_thinking` between bridges and
 * as `thinking_blocks` to chat clients, who echo them with the tool calls they belong to.
 */
export function listThinkingBlocks(message: JsonObject): JsonObject[] {
  const own = objects(message, "fw_thinking");
  if (own.length > 0) return own.filter(isSigned);
  const echoed = [...objects(message, "thinking_blocks"), ...objects(message, "reasoning_details")];
  return echoed.flatMap(signedBlock);
}

/** Thinking that no vendor signed, or another one, is refused upstream. */
function isSigned(block: JsonObject): boolean {
  if (block["type"] === "redacted_thinking") return true;
  return (
    (text(block, "signature") ?? "") !== "" &&
    [isSealedReasoning, isSealedDetails, isSealedSignature].every((isSealed) => !isSealed(block))
  );
}

function signedBlock(block: JsonObject): JsonObject[] {
  const signature = text(block, "signature");
  if (block["type"] === "redacted_thinking") return [{ type: "redacted_thinking", data: block["data"] ?? "" }];
  if (signature === undefined || !isSigned(block)) return [];
  return [{ type: "thinking", thinking: text(block, "thinking") ?? text(block, "text") ?? "", signature }];
}
