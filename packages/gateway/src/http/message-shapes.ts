import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";

/** One more than V8 watches before it decides how much room the objects of a constructor get. */
const WATCHED = 8;

/**
 * Settles how V8 lays out Node's requests and responses, before it can settle that badly: call it once, before the first
 * request.
 *
 * V8 samples the first seven objects of a constructor and gives all later ones room for as many properties as those
 * use. When a collection runs in between while none of them lives, it sees none used: every later request and response
 * of the process is a hash table then, and costs about a tenth more time (docs/performance/README.md). So the first ones are
 * made here, in one go.
 */
export function settleMessageShapes(): void {
  const socket = new Socket();
  Array.from({ length: WATCHED }, () => new ServerResponse(new IncomingMessage(socket)));
}
