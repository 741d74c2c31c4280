import { setTimeout as pause } from "node:timers/promises";

/**
 * A client that has the whole answer has the rest of its reservation. A charge leaves its process at the moment
 * of the last bytes, so on another replica a next request may come before it. A request that is refused only because of
 * what others hold is therefore asked again.
 */
const PAUSES_MS = [1, 9, 30, 60];

/**
 * Asks until the answer is final, or for a tenth of a second.
 *
 * @param hurry sends what this process still owes to Redis; on the same connection, so it arrives before the next call
 */
export async function askAgain<Answer>(
  ask: () => Promise<Answer>,
  isFinal: (answer: Answer) => boolean,
  sendNow: () => void,
): Promise<Answer> {
  let answer = await ask();
  for (const ms of PAUSES_MS) {
    if (isFinal(answer)) return answer;
    sendNow();
    await pause(ms);
    answer = await ask();
  }
  return answer;
}
