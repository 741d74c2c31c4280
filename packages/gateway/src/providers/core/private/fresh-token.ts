import { isJsonAnswer, readWhole } from "../exchange.ts";
import type { Exchange, ExchangeContext, ProviderAdapter, UpstreamAnswer } from "../types.ts";

/** Decides from the head of the answer, or from the body of a JSON answer, which it reads if necessary. */
export type IsStale = (answer: UpstreamAnswer, body: () => Promise<Buffer>) => boolean | Promise<boolean>;

/**
 * Sends the call; if the upstream says that the token is no longer valid, fetches a new one and sends the call again.
 */
export function withFreshToken(
  isStale: IsStale,
  sign: ProviderAdapter["authorize"],
  drop: (context: ExchangeContext) => void,
): Exchange {
  return async (call, context) => {
    const first = await context.send(call);
    let answer = first;
    const body = async () => {
      const read = await readWhole(first);
      answer = read.answer;
      return read.bytes;
    };
    const stale = (first.status >= 400 || isJsonAnswer(first)) && (await isStale(first, body));
    if (!stale) return answer;
    if (answer === first) await body();
    drop(context);
    const again = { ...call, headers: { ...call.headers }, url: new URL(call.url) };
    await sign(again, context.channel, context);
    return context.send(again);
  };
}
