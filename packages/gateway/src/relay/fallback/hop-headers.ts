import type { ServerResponse } from "node:http";
import type { FallbackNote } from "../request/fallbacks.ts";

/** Header that names the model that serves in place of the requested one. */
const MODEL_HEADER = "x-fairway-model";
const HOP_HEADER = "x-fairway-fallback";

/** Tells the client which model serves, and why; a stream that has begun with keep-alives cannot say it any more. */
export function nameServingModel(response: ServerResponse, model: string, { from, reason, hops }: FallbackNote): void {
  if (response.headersSent) return;
  const left = hops.filter(({ isSkipped }) => !isSkipped).length;
  response.setHeader(MODEL_HEADER, printable(model));
  response.setHeader(HOP_HEADER, `from=${printable(from)}; reason=${reason}; hops=${left}`);
}

/** Headers allow only visible ASCII; the semicolon separates. */
function printable(name: string): string {
  return name.replaceAll(/[^\x21-\x3a\x3c-\x7e]/g, "?");
}
