import { anthropicBatches } from "./anthropic.ts";
import { geminiBatches } from "./gemini.ts";
import { openaiBatches } from "./openai.ts";
import type { BatchProtocol } from "./protocol.ts";

const PROTOCOLS: readonly BatchProtocol[] = [anthropicBatches, geminiBatches, openaiBatches];

/** Returns the protocol of a row; throws for a row that no version of this program has written. */
export function requireProtocol(dialect: string): BatchProtocol {
  const found = PROTOCOLS.find(({ id }) => id === dialect);
  if (!found) throw new Error(`no batch protocol is named ${dialect}`);
  return found;
}
