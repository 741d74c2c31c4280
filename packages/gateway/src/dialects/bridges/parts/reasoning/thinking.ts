import { objects, text } from "../../../core/read.ts";
import type { JsonObject } from "../../../core/types.ts";
import { isSealedDetails } from "./sealed-details.ts";
import { isSealedSignature } from "./sealed-signatures.ts";
import { isSealedReasoning } from "./sealed-reasoning.ts";

/**
 * Returns thinking blocks in Anthropic's form, with unchanged signatures. They are `fw_thinking` between bridges and
 * `thinking_blocks` for chat clients, which echo them with the tool calls they belong to.
 */
export function listThinkingBlocks(message: JsonObject): JsonObject[] {
  const own = objects(message, "fw_thinking");
  if (own.length > 0) return own.filter(isSigned);
  const echoed = [...objects(message, "thinking_blocks"), ...objects(message, "reasoning_details")];
  return echoed.flatMap(signedBlock);
}

/** True if Anthropic signed the block: the upstream refuses thinking that is unsigned or signed by another vendor. */
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
