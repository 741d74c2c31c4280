import { setTimeout as pause } from "node:timers/promises";

/**
 * A client that has the whole answer may spend the rest of its reservation. A charge leaves its process together with
 * the last bytes, so the client's next request may reach another replica before the charge. A request that is refused
 * only because of the holds of others is therefore tried again.
 */
const PAUSES_MS = [1, 9, 30, 60];

/**
 * Repeats the call until the answer is final, or for a tenth of a second.
 *
 * @param hurry sends the unsent charges of this process to Redis, on the same connection and thus before the next call
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
