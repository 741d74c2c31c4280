import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";

/** One more than V8 observes before it decides how much room the objects of a constructor get. */
const WATCHED = 8;

/**
 * Makes V8 choose a good layout for Node's requests and responses before it can choose a bad one: call it once, before
 * the first request.
 *
 * V8 samples the first seven objects of a constructor and gives all later ones room for as many properties as those
 * use. If a garbage collection runs in between while none of them is alive, it sees no used properties: every later
 * request and response of the process is then a hash table, which costs about a tenth more time
 * (docs/performance/README.md). So the first ones are made here, all at once.
 */
export function settleMessageShapes(): void {
  const socket = new Socket();
  Array.from({ length: WATCHED }, () => new ServerResponse(new IncomingMessage(socket)));
}
